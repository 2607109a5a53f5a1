"""Texts that Slack keeps beside a message's own: blocks, attachments and files."""

from collections.abc import Iterator, Mapping
from typing import Any

from findback.sources.chat.slack_text import escape_slack_text

MOST_PIECES = 2_000
"""Most elements of one message's blocks that are read."""
_FILE_TEXTS = ("title", "name")
_ATTACHMENT_TEXTS = ("pretext", "title", "text", "footer")


def write_blocks(blocks: Any) -> str:
    """Return the text that blocks hold, in Slack's own markup; empty where there is none.

    >>> write_blocks([{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [
    ...     {"type": "text", "text": "see "}, {"type": "link", "url": "https://docs.example.org/a"}]}]}])
    'see <https://docs.example.org/a>'
    """
    return "".join(_write(blocks)).strip("\n")


def _write(blocks: Any) -> Iterator[str]:
    # Blocks lie inside each other without a fixed depth, so they are walked with a list and not by recursion.
    waiting: list[Any] = [blocks]
    for _ in range(MOST_PIECES):
        if not waiting:
            return
        piece = waiting.pop()
        if isinstance(piece, list):
            waiting.extend(reversed(piece[:MOST_PIECES]))
        elif isinstance(piece, str):
            yield piece
        elif isinstance(piece, Mapping):
            yield _leaf(piece)
            waiting.extend(_inside(piece))


def _inside(piece: Mapping[str, Any]) -> Iterator[Any]:
    """Yield what lies in a piece, last first."""
    kind = piece.get("type")
    if kind in ("rich_text_section", "rich_text_list", "section", "header", "context"):
        yield "\n"
    if kind == "rich_text_preformatted":
        yield "\n```\n"
    yield from (piece[key] for key in ("fields", "elements", "text") if isinstance(piece.get(key), (list, dict)))
    if kind == "rich_text_preformatted":
        yield "```\n"
    if kind == "rich_text_quote":
        yield "&gt; "


_NAMED = {
    "user": ("user_id", "<@{}>"),
    "usergroup": ("usergroup_id", "<!subteam^{}>"),
    "channel": ("channel_id", "<#{}>"),
    "broadcast": ("range", "<!{}>"),
    "emoji": ("name", ":{}:"),
}
"""Elements that only name something: the field with the name, and how markup writes it."""


def _leaf(piece: Mapping[str, Any]) -> str:
    kind, text = piece.get("type"), piece.get("text")
    words = escape_slack_text(text) if isinstance(text, str) else ""
    if kind == "mrkdwn":
        return text if isinstance(text, str) else ""
    if kind in ("plain_text", "text"):
        style = piece.get("style")
        return f"`{words}`" if words and isinstance(style, Mapping) and style.get("code") is True else words
    if kind == "link" and isinstance(piece.get("url"), str):
        return f"<{escape_slack_text(piece['url'])}{'|' if words else ''}{words}>"
    field, form = _NAMED.get(str(kind), ("", ""))
    named = piece.get(field)
    return form.format(named) if isinstance(named, str) else ""


def list_texts(files: Any, attachments: Any) -> Iterator[str]:
    """Yield names and titles of files, and titles and texts of attachments, each once."""
    seen: set[str] = set()
    for held, keys in ((files, _FILE_TEXTS), (attachments, _ATTACHMENT_TEXTS)):
        for piece in held[:MOST_PIECES] if isinstance(held, list) else ():
            if not isinstance(piece, Mapping):
                continue
            for text in _texts_of(piece, keys):
                if text not in seen:
                    seen.add(text)
                    yield text


def _texts_of(piece: Mapping[str, Any], keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        text = piece.get(key)
        if isinstance(text, str) and text.strip():
            yield text
    comment = piece.get("initial_comment")
    if isinstance(comment, Mapping) and isinstance(comment.get("comment"), str):
        yield comment["comment"]
    fields = piece.get("fields")
    for entry in fields[:MOST_PIECES] if isinstance(fields, list) else ():
        if isinstance(entry, Mapping):
            yield from (
                entry[key] for key in ("title", "value") if isinstance(entry.get(key), str) and entry[key].strip()
            )


def list_addresses(attachments: Any) -> Iterator[str]:
    """Yield the web addresses that attachments were made from or lead to."""
    for piece in attachments[:MOST_PIECES] if isinstance(attachments, list) else ():
        if isinstance(piece, Mapping):
            for key in ("from_url", "original_url", "title_link"):
                address = piece.get(key)
                if isinstance(address, str) and address.startswith(("http://", "https://")):
                    yield address
