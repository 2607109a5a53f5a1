"""Columns of a block of text, found for all its lines at once."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Int64s = NDArray[np.int64]
UInt64s = NDArray[np.uint64]

MARGIN = 16
"""Bytes to spare before and after a block, so that eight bytes can be taken anywhere."""
WORD = 8
_NEWLINE, _BLANK, _MINUS = 10, 32, 45
_EXACT = 2**53
_TENS = 10.0 ** np.arange(17)
_ONES = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_ZEROS = np.uint64(0x3030303030303030)
_DOTS = np.uint64(0x2E2E2E2E2E2E2E2E)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Block(NamedTuple):
    """Whole lines of a file, cut into columns."""

    letters: NDArray[np.uint8]
    """The text with its margins."""
    starts: Int64s
    """Where each column of each line that is not blank starts: lines × columns."""
    ends: Int64s
    """Where each ends."""


def split_block(text: bytes, columns: int) -> Block | None:
    r"""Return the first columns of every line, or None where a line has fewer.

    Args:
        text: Whole lines, the last one ended too.
        columns: How many columns there must be; further ones are dropped.

    >>> block = split_block(b"q1 0 doc 1\n\nq2  0 d 2\r\n", 4)
    >>> (block.ends - block.starts).tolist()
    [[2, 1, 3, 1], [2, 1, 1, 1]]
    """
    letters = np.frombuffer(bytes(MARGIN) + text + bytes(MARGIN), dtype=np.uint8)
    ends = np.flatnonzero(letters[MARGIN:-MARGIN] <= _BLANK)
    ends += MARGIN
    starts = np.empty_like(ends)
    starts[:1] = MARGIN
    np.add(ends[:-1], 1, out=starts[1:])
    full = ends > starts
    lines, rest = divmod(len(ends), columns)
    if (
        not rest
        and text.count(b"\n") == lines
        and full.all()
        and (letters[ends[columns - 1 :: columns]] == _NEWLINE).all()
    ):
        return Block(letters, starts.reshape(-1, columns), ends.reshape(-1, columns))
    # Blanks in a row, carriage returns or further columns: count what stands in each line.
    last = letters[ends] == _NEWLINE
    line = np.cumsum(last) - last
    counts = np.bincount(line[full], minlength=int(line[-1]) + 1 if len(line) else 0)
    counts = counts[counts > 0]
    if (counts < columns).any():
        return None
    first = np.cumsum(counts) - counts
    picked = first[:, None] + np.arange(columns)
    return Block(letters, starts[full][picked], ends[full][picked])


def take_words(letters: NDArray[np.uint8], at: Int64s) -> UInt64s:
    """Return the eight bytes from each place on, the first one in the lowest bits."""
    words: NDArray[np.uint64] = np.ndarray(
        shape=(len(letters) - WORD + 1,), dtype="<u8", buffer=letters.data, strides=(1,)
    )
    return words[at]


def keep_first(words: UInt64s, count: Int64s) -> UInt64s:
    """Return words with all but their first `count` bytes set to 0; none are kept below 0, all from 8 on."""
    shift = (np.clip(WORD - count, 0, WORD) * 8).astype(np.uint64)
    # A shift by 64 is undefined: in two steps it is not.
    half = shift >> np.uint64(1)
    return words & (_ALL >> half >> (shift - half))


def parse_numbers(letters: NDArray[np.uint8], starts: Int64s, ends: Int64s) -> tuple[NDArray[np.float64], Int64s]:
    """Return plain decimal numbers, exactly as `float` would, and the places of those it cannot do.

    Plain is: a sign or none, digits, at most one dot; 16 characters and a value below 2 ** 53 without
    the dot. Whole numbers up to there and powers of ten up to 10 ** 22 are exact in double precision,
    so that one division gives the nearest double.

    Source:
        The digit arithmetic within a word follows Lemire, "Number parsing at a gigabyte per second" (2021).
    """
    negative = letters[starts] == _MINUS
    length = ends - starts - negative
    low = _blank_to_zero(take_words(letters, ends - WORD), length)
    high = _blank_to_zero(take_words(letters, ends - 2 * WORD), length - WORD)
    low_dot = _find_dot(low)
    if (low_dot < WORD).all():
        # The common case, and half the work: no dot to look for further left.
        decimals = WORD - 1 - low_dot
        low = _close_gap(low, low_dot, high >> np.uint64(56))
        high = (high << np.uint64(8)) | np.uint64(0x30)
        dots: NDArray[np.bool_] | int = 1
    else:
        high_dot = _find_dot(high)
        in_low, in_high = low_dot < WORD, high_dot < WORD
        decimals = np.where(in_low, WORD - 1 - low_dot, np.where(in_high, 2 * WORD - 1 - high_dot, 0))
        carried = np.where(in_low, high >> np.uint64(56), np.uint64(0x30))
        low = np.where(in_low, _close_gap(low, low_dot, carried), low)
        gap = np.where(in_low, WORD - 1, high_dot)
        high = np.where(in_low | in_high, _close_gap(high, gap, np.uint64(0x30)), high)
        dots = in_low | in_high
    digits = ((low - _ZEROS) | (low + np.uint64(0x4646464646464646)) | (high - _ZEROS)
              | (high + np.uint64(0x4646464646464646))) & _HIGH  # fmt: skip
    whole = _digits_to_number(high) * np.uint64(10**8) + _digits_to_number(low)
    values = whole.astype(np.float64) / _TENS[np.clip(decimals, 0, 16)]
    odd = (digits != 0) | (length > 2 * WORD) | (length - dots < 1) | (whole >= np.uint64(_EXACT))
    return np.where(negative, -values, values), np.flatnonzero(odd)


def _blank_to_zero(words: UInt64s, count: Int64s) -> UInt64s:
    """Return words whose last `count` bytes are kept and whose others are the digit 0."""
    shift = (np.clip(WORD - count, 0, WORD) * 8).astype(np.uint64)
    half = shift >> np.uint64(1)
    kept = _ALL << half << (shift - half)
    filled: UInt64s = (words & kept) | (_ZEROS & ~kept)
    return filled


def _find_dot(words: UInt64s) -> Int64s:
    """Return the place of the first dot in each word, 8 where there is none."""
    mixed = words ^ _DOTS
    found = (mixed - _ONES) & ~mixed & _HIGH
    lowest = found & (~found + np.uint64(1))
    return np.bitwise_count(lowest - np.uint64(1)).astype(np.int64) >> 3


def _close_gap(words: UInt64s, gap: Int64s, first: UInt64s | np.uint64) -> UInt64s:
    """Return words without the byte at `gap`: what stands before it moves up, `first` comes in below."""
    shift = (np.minimum(gap, WORD - 1) * 8).astype(np.uint64)
    after = _ALL << shift << np.uint64(8)
    before = ~(_ALL << shift)
    closed: UInt64s = (words & after) | ((words & before) << np.uint64(8)) | first
    return closed


def _digits_to_number(words: UInt64s) -> UInt64s:
    """Return the number eight digits mean, the first digit in the lowest bits."""
    pairs = words - _ZEROS
    pairs = pairs * np.uint64(10) + (pairs >> np.uint64(8))
    mask = np.uint64(0x000000FF000000FF)
    fours = (pairs & mask) * np.uint64(0x000F424000000064)
    rest = ((pairs >> np.uint64(16)) & mask) * np.uint64(0x0000271000000001)
    return (fours + rest) >> np.uint64(32)
