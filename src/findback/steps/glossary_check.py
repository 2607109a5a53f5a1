"""Whether a term may be published: redaction's rules, and nobody's name in it."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from findback.corpus.corpus import Corpus
from findback.privacy.aliases import digest_value
from findback.privacy.key import Key
from findback.privacy.roster import Roster
from findback.steps.bench import has_bench, open_bench, open_workspace_key
from findback.steps.people import read_roster
from findback.steps.publishable import open_check
from findback.text.phrases import list_runs
from findback.workbench.aliases import Called
from findback.workbench.store import Workbench
from findback.workspace import Workspace

REMEMBERED = 65_536


class TermCheck:
    """Says which terms may be published.

    A term may hold no placeholder, nothing that redaction takes away, no word that people of an export at hand are
    called, and none that anybody in the workbench is called, whose export may be gone.
    """

    def __init__(self, workspace: Workspace, documents: Corpus | None) -> None:
        at_hand = read_roster(workspace, documents)
        self.notes = at_hand.notes
        """Exports whose people could not be looked for, and why."""
        self._roster: Roster | None = at_hand.roster
        self._check = open_check(workspace, roster=at_hand.roster)
        self._names: frozenset[str] = frozenset()
        self.is_clean: Callable[[str], bool] = lru_cache(REMEMBERED)(self._is_clean)
        """Returns whether a text may be published as a term."""

    def learn(self, workspace: Workspace, texts: Iterable[str]) -> None:
        """Look up which words of some terms people in the workbench are called; before `is_clean` is asked.

        Raises:
            FindbackError: If the workbench cannot be opened.
        """
        if not has_bench(workspace):
            return
        spans = sorted({span for text in texts for span in _list_spans(text)})
        key = open_workspace_key(workspace)
        with open_bench(workspace, key) as bench:
            self._names |= frozenset(_find_names(bench, key, spans))
        self.is_clean = lru_cache(REMEMBERED)(self._is_clean)

    def _is_clean(self, text: str) -> bool:
        if self._check(text) or not self._names.isdisjoint(_list_spans(text)):
            return False
        return self._roster is None or not self._roster.find(text)


def _list_spans(text: str) -> set[str]:
    """Return every stretch of words of a term."""
    return {
        text[run[first].start : run[last].end]
        for run in list_runs(text)
        for first in range(len(run))
        for last in range(first, len(run))
    }


def _find_names(bench: Workbench, key: Key, values: list[str]) -> list[str]:
    """Return the values that somebody is called: halves are looked up until it is clear which."""
    if not values:
        return []
    who = bench.identify([Called(frozenset(), digest_value(value, key.hmac)) for value in values])
    if not who.ids and not who.doubtful:
        return []
    if len(values) == 1:
        return values
    middle = len(values) // 2
    return [*_find_names(bench, key, values[:middle]), *_find_names(bench, key, values[middle:])]
