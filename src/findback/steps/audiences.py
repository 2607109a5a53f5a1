"""Who asks and who may read: roles of findback.toml, cases and documents held against each other."""

from collections import Counter
from collections.abc import Iterable

from findback.corpus.corpus import Corpus
from findback.model.question import QuestionSet
from findback.retrievers.readers import Readers
from findback.workspace import Workspace

NAMED = 5
"""Most unknown roles a note names."""


def read_readers(documents: Corpus) -> Readers:
    """Return who may read which document, as the documents say."""
    if not documents.names_audiences:
        return Readers()
    return Readers({document.id: document.audience for document in documents if document.audience})


def note_roles(questions: QuestionSet, workspace: Workspace) -> QuestionSet:
    """Return a set with a warning where its cases name roles that findback.toml does not; unchecked without one."""
    asked = Counter(q.context.audience for q in questions.questions if q.context and q.context.audience)
    unknown = {role: count for role, count in asked.items() if role not in workspace.settings.audiences.roles}
    if workspace.file is None or not unknown:
        return questions
    note = (
        f"warning: {sum(unknown.values())} of {len(questions)} questions are asked as roles that findback.toml does"
        f" not know: {_list(unknown)} ({_known(workspace)})"
    )
    return questions.model_copy(update={"notes": (*questions.notes, note)})


def note_readers(documents: Corpus, workspace: Workspace) -> tuple[str, ...]:
    """Return a warning where documents name unknown roles, or none names any; unchecked without findback.toml."""
    if workspace.file is None or not documents.names_audiences:
        return ()
    held = Counter(role for document in documents for role in document.audience)
    if not held:
        return (f"warning: no document of {documents.name} has the audience_field, so everybody may read all of them",)
    unknown = [role for role in held if role not in workspace.settings.audiences.roles]
    if not unknown:
        return ()
    return (f"warning: documents name roles that findback.toml does not know: {_list(unknown)} ({_known(workspace)})",)


def _list(roles: Iterable[str]) -> str:
    ordered = sorted(roles)
    more = f" and {len(ordered) - NAMED} more" if len(ordered) > NAMED else ""
    return ", ".join(map(repr, ordered[:NAMED])) + more


def _known(workspace: Workspace) -> str:
    known = workspace.settings.audiences.roles
    return f"[audiences] roles: {', '.join(map(repr, known))}" if known else "it has no [audiences] roles"
