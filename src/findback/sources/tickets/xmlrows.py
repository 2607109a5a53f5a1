"""Rows of a Stack Exchange dump's XML files, streamed; document types and entities are refused."""

from collections.abc import Iterator
from typing import IO, Any, NamedTuple
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from findback.errors import RefusedError
from findback.sources.faults import Faults

MOST_ROW = 256_000_000
"""Most bytes that may pass without a new row."""
_CHUNK = 1 << 18


class XmlRow(NamedTuple):
    """The attributes of one `<row>`."""

    values: dict[str, str]
    line: int
    offset: int


class _Rows:
    """Keeps the rows that a parser comes upon."""

    def __init__(self) -> None:
        self.found: list[XmlRow] = []
        self.parser: Any = None

    def start(self, tag: str, values: dict[str, str]) -> None:
        if tag == "row":
            expat = self.parser.parser
            self.found.append(XmlRow(values, expat.CurrentLineNumber, expat.CurrentByteIndex))

    def end(self, tag: str) -> None:
        """Nothing to do: rows hold nothing."""

    def data(self, text: str) -> None:
        """Nothing to do: what stands between rows is white space."""

    def close(self) -> None:
        """Nothing to do."""


def read_xml_rows(file: IO[bytes], shown: str, faults: Faults) -> Iterator[XmlRow]:
    """Yield the rows in order; a place after which the XML makes no sense becomes a fault and ends the reading.

    Raises:
        RefusedError: If the file declares a document type or entities, or one row is larger than may be.
    """
    rows = _Rows()
    parser = rows.parser = DefusedXMLParser(target=rows, forbid_dtd=True)
    waiting = 0
    try:
        while chunk := file.read(_CHUNK):
            parser.feed(chunk)
            waiting = 0 if rows.found else waiting + len(chunk)
            if waiting > MOST_ROW:
                break
            yield from rows.found
            rows.found.clear()
        else:
            parser.close()
    except ParseError as bad:
        yield from rows.found
        faults.add(shown, bad.position[0], f"not valid XML: {_reason(bad)}")
    except DefusedXmlException:
        raise RefusedError(
            f"{shown} declares a document type or entities, which no dump has and which can fill memory or read files",
            hint="take the dump from its publisher again",
        ) from None
    if waiting > MOST_ROW:
        raise RefusedError(f"{shown} holds a row of more than {MOST_ROW:,} bytes")


def _reason(bad: ParseError) -> str:
    return str(bad).partition(":")[0]
