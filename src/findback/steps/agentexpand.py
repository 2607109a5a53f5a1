"""What the accepted glossary adds to a question, for agents that search elsewhere."""

from typing import Annotated

from pydantic import Field

from findback.errors import MissingError
from findback.evalset.glossary import GLOSSARY
from findback.model.flag import Wording
from findback.model.protocols import Documents
from findback.model.record import Record, Request
from findback.steps.opening import open_glossary
from findback.text.expansion import Expander
from findback.text.languages import main_language
from findback.workspace import Workspace

MOST_ADDED = 50


class ExpandRequest(Request):
    """Say which words documents use for what a person asks about."""

    question: Wording
    """What the person asked, or what you would search for."""


class ExpandedQuery(Record):
    """A question as it is searched."""

    query: str
    """The question, then the words that were added."""
    added: Annotated[tuple[str, ...], Field(max_length=MOST_ADDED)] = ()
    """The words that were added; none where no term of the glossary fits."""


class AgentGlossary:
    """The glossary of a workspace, read again when its file changed."""

    def __init__(self, workspace: Workspace, *, language: str) -> None:
        """Name the glossary.

        Args:
            workspace: Whose glossary.
            language: ISO 639-1 code for stems.
        """
        self._workspace, self._language = workspace, language
        self._read: tuple[tuple[int, int] | None, Expander] | None = None

    def expand(self, request: ExpandRequest) -> ExpandedQuery:
        """Return a question with what the accepted terms add to it.

        Raises:
            DataError: If the glossary has faults.
        """
        expanded = self._expander().expand(request.question)
        return ExpandedQuery(
            query=" ".join([request.question, *expanded.added[:MOST_ADDED]]), added=expanded.added[:MOST_ADDED]
        )

    def _expander(self) -> Expander:
        try:
            state = (self._workspace.evalset / GLOSSARY).stat()
            version: tuple[int, int] | None = (state.st_mtime_ns, state.st_size)
        except OSError:
            version = None
        if self._read is None or self._read[0] != version:
            self._read = version, Expander(self._rules(), language=self._language)
        return self._read[1]

    def _rules(self) -> tuple[tuple[str, str], ...]:
        try:
            return open_glossary(self._workspace).rules
        except MissingError:
            # Nobody accepted a term yet: nothing is added.
            return ()


def open_agent_glossary(workspace: Workspace, documents: Documents | None) -> AgentGlossary:
    """Return the glossary of a workspace, in the language of its documents.

    Args:
        workspace: Whose glossary.
        documents: To tell the language from; None where nobody opened them.
    """
    corpus = workspace.settings.corpus
    named = corpus.language if corpus is not None else None
    return AgentGlossary(workspace, language=named or main_language(one.language for one in documents or ()))
