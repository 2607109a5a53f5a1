"""What language models answered, forgotten when somebody is erased: they may stand in it in other words."""

from contextlib import closing

from findback.llm.cache import FILE, Answers
from findback.workspace import Workspace


def forget_answers(workspace: Workspace) -> int:
    """Forget every kept answer and return how many there were; the next run pays for those it needs again.

    Raises:
        StorageError: If the disk refuses.
    """
    folder = workspace.private / "answers"
    if not (folder / FILE).is_file():
        return 0
    with closing(Answers(folder)) as answers:
        return answers.empty()
