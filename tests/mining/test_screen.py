"""The quick test of raw texts: which of many may matter."""

import pytest

from findback.mining.cues import Cues
from findback.mining.screen import Screen

TEXTS = [
    "lunch?",
    "I can't find the runbook for failover",
    "see <https://docs.example.org/vpn>",
    "see <https://elsewhere.example.com/vpn>",
    "Weiß jemand, wo die Doku zum Drucker liegt?",
    "deployed ✅",
    "",
]


def test_cues_and_links_to_documents_are_let_through():
    """Of seven texts, the cue in English, the document's link and the cue in German; without hosts, both links."""
    assert list(Screen(Cues(), hosts={"docs.example.org"})(TEXTS)) == [1, 2, 4]
    assert list(Screen(Cues())(TEXTS)) == [1, 2, 3, 4]


@pytest.mark.parametrize("between", ["\0", "a\0b", "\udc80"])
def test_odd_characters_move_nothing(between: str):
    """Texts that hold what texts are joined with, or half a character, change no other text's place."""
    assert list(Screen(Cues(), hosts={"docs.example.org"})([between, *TEXTS])) == [2, 3, 5]


def test_together_or_alone_makes_no_difference():
    """Each text alone gives what all of them give together, and no texts give none."""
    screen = Screen(Cues(), hosts={"docs.example.org"})
    assert [place for place, text in enumerate(TEXTS) if screen([text])] == list(screen(TEXTS))
    assert list(screen([])) == []


def test_questions_pass_where_a_control_sample_is_wanted():
    """A control sample of one lets eight questions through; which ones hangs on the seed and not on their order."""
    texts = [f"is it {number} o'clock?" for number in range(100)]
    seeds = [{texts[place] for place in Screen(Cues(), control=1, seed=seed)(texts)} for seed in (1, 2)]
    assert Screen(Cues())(texts) == []
    assert all(len(passed) >= 8 for passed in seeds)
    assert seeds[0] != seeds[1]
    # The lowest number of all passes in any order.
    backwards = Screen(Cues(), control=1, seed=1)(texts[::-1])
    assert len(seeds[0] & {texts[::-1][place] for place in backwards}) >= 8
