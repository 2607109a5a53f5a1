"""The tags and texts of an HTML source, whatever its state.

The scanner looks at every character a bounded number of times whatever the source, and gives the same
tokens under every version of Python.
"""

import html
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div"),
        *("dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6"),
        *("header", "hr", "html", "legend", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table"),
        *("tbody", "tfoot", "thead", "tr", "ul"),
    )
)
"""Elements that begin and end a line of what a reader sees."""
RAW_ELEMENTS = ("script", "style", "title", "textarea", "xmp", "noembed", "noframes")
"""Elements whose content is no markup."""
MOST_TAG = 20_000
"""Longest tag; what looks like a longer one is taken as text."""

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]{0,63})")
_STRAY = re.compile(r"(?:<(?!/?[a-zA-Z]|[!?]))+")
_ATTRIBUTES = re.compile(r"""[^>"']*+(?:"[^"]*+"[^>"']*+|'[^']*+'[^>"']*+)*+>""")
_ATTRIBUTE = re.compile(r"""([a-zA-Z][\w:-]{0,63})\s{0,9}=\s{0,9}("[^"]*"|'[^']*'|[^\s"'>]+)""")
_RAW_END = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in RAW_ELEMENTS}
# The largest code point has seven digits; more of them are no character, and int() refuses thousands.
_LONG_NUMBER = re.compile(r"&#(?:0*[0-9]{8,}|[xX]0*[0-9a-fA-F]{7,});?")
_PADDED_NUMBER = re.compile(r"&#([xX]?)0{3,}(?=[0-9a-fA-F])")


class Token(NamedTuple):
    """One piece of a source."""

    kind: Literal["text", "raw", "open", "close"]
    """`raw` is the content of a script, style or the like."""
    value: str
    """Text as it stands, entities not decoded; or the name of the tag, in lower case."""
    attributes: str = ""
    """What stands in the tag after its name; for `raw` the element's name."""


def read_tokens(source: str) -> Iterator[Token]:
    """Yield the pieces of a source in order; comments and declarations are left out.

    >>> [token.value for token in read_tokens("<p>a <!-- no --> b</p>")]
    ['p', 'a ', ' b', 'p']
    """
    at, length = 0, len(source)
    while at < length:
        found = source.find("<", at)
        if found < 0:
            yield Token("text", source[at:])
            return
        if found > at:
            yield Token("text", source[at:found])
        if source.startswith("<!--", found):
            end = source.find("-->", found + 4)
            at = length if end < 0 else end + 3
            continue
        if source.startswith(("<!", "<?"), found):
            end = source.find(">", found)
            at = length if end < 0 else end + 1
            continue
        tag = _TAG.match(source, found)
        if tag is None:
            stray = _STRAY.match(source, found)
            at = stray.end() if stray else found + 1
            yield Token("text", source[found:at])
            continue
        rest = _ATTRIBUTES.match(source, tag.end(), min(tag.end() + MOST_TAG, length))
        if rest is None:
            at = min(tag.end() + MOST_TAG, length)
            yield Token("text", source[found:at])
            continue
        name, at = tag[2].casefold(), rest.end()
        yield Token("close" if tag[1] else "open", name, rest[0])
        if not tag[1] and name in _RAW_END:
            end_tag = _RAW_END[name].search(source, at)
            stop = end_tag.start() if end_tag else length
            yield Token("raw", source[at:stop], name)
            at = stop


def read_attributes(token: Token) -> dict[str, str]:
    """Return the attributes of a tag, names in lower case, entities decoded; the last of a name counts.

    >>> read_attributes(Token("open", "a", ' HREF="/x?a=1&amp;b=2">'))
    {'href': '/x?a=1&b=2'}
    """
    return {
        name.casefold(): decode_entities(value.strip("\"'")) for name, value in _ATTRIBUTE.findall(token.attributes)
    }


def decode_entities(text: str) -> str:
    """Return a text with its character references decoded; numbers that are no character become U+FFFD.

    >>> decode_entities("a &lt; b &#8217; &#99999999999;")
    'a < b ’ \ufffd'
    """
    if "&" not in text:
        return text
    if "&#" in text:
        text = _LONG_NUMBER.sub("\ufffd", _PADDED_NUMBER.sub(r"&#\1", text))
    return html.unescape(text)
