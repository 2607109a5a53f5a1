"""Bodies of ticket messages: markup read, quoted mails and signatures marked."""

from findback.model.hits import Span
from findback.model.thread import Message
from findback.sources.mail import find_quotes
from findback.sources.markdown import read_markdown
from findback.sources.marked import Marked, drop_quoted, read_plain
from findback.sources.markup import read_html

TOO_LONG = "messages of more than 2,000,000 characters"
"""Why such a message is skipped."""


def read_mail(html: str | None, plain: str | None, *, base_url: str | None = None) -> Marked:
    """Return a mail's or ticket comment's body, from its HTML where there is any."""
    if html:
        marked = read_html(html, base_url=base_url)
        return drop_quoted(marked, find_quotes(marked.text))
    text = plain or ""
    return read_plain(text, quotes=find_quotes(text))


def read_post(markdown: str) -> Marked:
    """Return a Markdown post's body; posts are also written by answering a mail."""
    marked = read_markdown(markdown)
    code = [mark.span for mark in marked.marks if mark.kind == "code"]
    return drop_quoted(marked, [span for span in find_quotes(marked.text) if not _inside(span, code)])


def _inside(span: Span, others: list[Span]) -> bool:
    return any(other.start <= span.start < other.end for other in others)


def by_time(messages: list[Message]) -> tuple[Message, ...]:
    """Return messages oldest first; as they are where one of them has no time."""
    if any(message.at is None for message in messages):
        return tuple(messages)
    return tuple(sorted(messages, key=lambda message: message.at.timestamp() if message.at else 0.0))
