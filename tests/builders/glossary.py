"""Documents that say one thing and people who say another."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from builders.ready import Ready
from builders.sets import case
from findback.corpus.corpus import Corpus, corpus_of
from findback.model.case import Case
from findback.model.document import Document
from findback.model.question import QuestionSet, question_from_case
from findback.steps.release import ReleaseRequest, release
from findback.workspace import Workspace, open_workspace

THEMES = ("wireless", "payroll", "printer", "tunnel", "badge", "parking", "canteen", "archive")
TOPICS = ("setup", "outage", "pricing", "limits", "refund", "history")
SAID = {"wireless": "wifi", "payroll": "moneybox", "printer": "paperjam"}
"""What people call three of the themes; the others go by their own names."""
FILLERS = ("urgent", "monday", "laptop", "upstairs", "colleague", "deadline")


def pages() -> dict[str, str]:
    """Return a page for each theme and topic, by path; each has a word nobody else uses."""
    return {
        f"{theme}/{topic}.md": f"# {theme.title()} {topic}\n\nAll about {theme} {topic}: form {theme[:3]}{topic[:3]}."
        for theme in THEMES
        for topic in TOPICS
    }


def corpus(aliases: Mapping[str, Sequence[str]] | None = None) -> Corpus:
    """Return the pages as documents."""
    return corpus_of(
        Document(
            name,
            text.partition("\n\n")[2],
            title=text.partition("\n")[0].removeprefix("# "),
            language="en",
            aliases=tuple((aliases or {}).get(name, ())),
        )
        for name, text in pages().items()
    )


def cases(themes: Iterable[str] = THEMES, *, each: int = 2, said: Mapping[str, str] = SAID) -> list[Case]:
    """Return questions about each page of some themes, each its own cluster, in the words people use."""
    made = []
    for theme in themes:
        for at, topic in enumerate(TOPICS):
            for time in range(each):
                number = len(made)
                filler = FILLERS[(at + time) % len(FILLERS)]
                made.append(
                    case(
                        number,
                        query=f"{said.get(theme, theme)} {topic} {filler}",
                        wording="wrong-name" if theme in said else "plain",
                        judged=[{"doc": f"{theme}/{topic}.md", "grade": 3, "found_by": "resolver"}],
                    )
                )
    return made


def question_set(asked: Iterable[Case], *, kind: str = "release") -> QuestionSet:
    """Return cases as the questions of release 3, or of something else."""
    return QuestionSet(
        name="3",
        kind=kind,
        questions=tuple(map(question_from_case, asked)),
        release=3 if kind == "release" else None,
        sha256="ab" * 32,
    )


def bare_workspace(folder: Path, settings: str = "") -> Workspace:
    """Return a workspace with the pages and nothing released."""
    root = folder / "portal"
    for name, text in pages().items():
        file = root / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    (root / "findback.toml").write_text(f"[corpus]\npath = 'docs'\nlanguage = 'en'\n{settings}", "utf-8")
    return open_workspace(root, environment={"XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder)})


def released_workspace(folder: Path, asked: Sequence[Case] | None = None, settings: str = "") -> Workspace:
    """Return a workspace whose first release holds the questions: so few that none of them is held out by chance."""
    workspace = bare_workspace(folder, settings)
    ready = Ready(*(cases(THEMES[:7]) if asked is None else asked))
    made = release(workspace, ReleaseRequest(message="first"), ready=ready)
    assert made.number == 1, made.obstacles
    return workspace
