"""Lines of a file of bytes."""

from io import BytesIO

from findback.text.lines import BOM, RawLine, raw_lines


def test_lines_have_their_number_and_place():
    """Offsets count every byte, those of the byte order mark and of lines that are too long as well."""
    source = BOM + b"one\r\n" + b"2" * 50 + b"\n\nlast"
    assert list(raw_lines(BytesIO(source), limit=10)) == [
        RawLine(1, 0, b"one\r\n", whole=True),
        RawLine(2, 8, b"2" * 11, whole=False),
        RawLine(3, 59, b"\n", whole=True),
        RawLine(4, 60, b"last", whole=True),
    ]


def test_a_line_of_the_limit_is_whole_and_one_byte_more_is_not():
    """The line's end counts; without one, the file's end ends the line."""
    found = [line.whole for line in raw_lines(BytesIO(b"123\n1234\n1234"), limit=4)]
    assert found == [True, False, True]


def test_no_more_than_a_chunk_of_an_endless_line_is_read_at_once():
    """A line without end is passed over piece by piece."""
    asked = []

    class Endless(BytesIO):
        def readline(self, size=-1):
            asked.append(size)
            return super().readline(size)

    (line,) = raw_lines(Endless(b"x" * 5_000_000), limit=100)
    assert (len(line.raw), line.whole) == (101, False)
    assert max(asked) <= 1 << 20
