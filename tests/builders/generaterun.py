"""Runs of `findback generate` as processes of their own, against a server on this machine; they may be killed."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from builders.describers import Describer, draw
from builders.llmserver import KEY, MODEL, LlmServer, Question
from findback.corpus.corpus import Corpus
from findback.corpus.open import open_corpus
from findback.model.document import Document
from findback.model.generated import Generated
from findback.model.settings import CorpusSettings
from findback.steps.bench import open_bench
from findback.steps.kept import newest
from findback.steps.opening import trusted_items
from findback.trust import digest_of
from findback.workspace import Workspace, open_workspace

HARBOUR = Path(__file__).resolve().parents[2] / "examples" / "harbour" / "docs"


def harbour_sections() -> list[tuple[str, str]]:
    """Return the sections of the English pages of Harbour, with the folder each is from."""
    sections = []
    for file in sorted(HARBOUR.rglob("*.md")):
        folder = file.relative_to(HARBOUR).parts[0]
        if folder == "de" or len(file.relative_to(HARBOUR).parts) < 2:
            continue
        text = re.sub(r"\A---\n.*?\n---\n", "", file.read_text("utf-8"), flags=re.DOTALL)
        found = (part.strip() for part in re.split(r"\n(?=#{2,3} )", text))
        sections += [(folder, part) for part in found if len(part.split()) >= 25]
    return sections


def harbour_documents(count: int) -> list[Document]:
    """Return documents that are each made of two sections of different Harbour pages."""
    sections = harbour_sections()
    steps = (7, 31, 59)
    made = []
    for at in range(count):
        subject, first = sections[at % len(sections)]
        _, second = sections[(at + steps[at // len(sections) % len(steps)]) % len(sections)]
        text = f"# Page {at:04d}\n\n{first}\n\n{second}\n"
        made.append(Document(f"{subject}/page-{at:04d}.md", text, subject=subject, language="en"))
    return made


def write_documents(folder: Path, count: int) -> Path:
    """Write such documents and return their folder."""
    for document in harbour_documents(count):
        file = folder / document.id
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(document.text, "utf-8")
    return folder


def moody(question: Question, times: int) -> str | None:
    """Go wrong on some questions the first time, as servers do."""
    moods = {31: "500", 37: "malformed", 41: "cut", 43: "503", 47: "disconnect", 53: "fenced"}
    number = draw(question.user)
    return next((mood for step, mood in moods.items() if number % step == 0 and times == 0), None)


class Place:
    """A workspace whose model is a server on this machine."""

    def __init__(self, folder: Path, documents: Path, server: LlmServer, *, connections: int = 32) -> None:
        """Write findback.toml."""
        self.folder, self.root = folder, folder / "harbour"
        self.root.mkdir(parents=True)
        (self.root / "findback.toml").write_text(
            f'name = "Harbour"\n[corpus]\npath = "{documents}"\n[mining]\nnames = false\n'
            f'[models.writer]\nprovider = "openai"\nmodel = "{MODEL}"\nbase_url = "{server.openai}"\n'
            f'key = "env:LLM_KEY"\nconnections = {connections}\nprice_in = 0.25\nprice_out = 2.0\n'
        )
        self.environment = {
            "XDG_STATE_HOME": str(folder / "state"),
            "HOME": str(folder),
            "LLM_KEY": KEY,
            # The same everywhere, so that two runs can be compared down to their candidates' keys.
            "FINDBACK_KEY": "5a" * 32,
            "PATH": os.environ["PATH"],
        }
        self.environment["FINDBACK_TRUST"] = digest_of(self.workspace.root, trusted_items(self.workspace))

    @property
    def workspace(self) -> Workspace:
        """Return the workspace as a run sees it."""
        return open_workspace(self.root, environment=self.environment)

    def start(self, n: int, *options: str) -> subprocess.Popen[str]:
        """Begin a run."""
        command = [sys.executable, "-m", "findback", "generate", "--n", str(n), *options]
        return subprocess.Popen(
            command, cwd=self.root, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, n: int, *options: str) -> str:
        """Run to the end and return what was printed."""
        child = self.start(n, *options)
        printed, said = child.communicate(timeout=570)
        assert child.returncode == 0, (child.returncode, printed[:3_000], said[-2_000:])
        return printed

    def kill(self, n: int, server: LlmServer, after: int) -> int:
        """Begin a run and kill it once the server accepted so many requests more; return how it ended."""
        child = self.start(n)
        until = server.counts.accepted + after
        while child.poll() is None and server.counts.accepted < until:
            time.sleep(0.005)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        return child.returncode

    def answers(self) -> int:
        """Return how many answers lie on the disk."""
        file = self.workspace.private / "answers" / "answers.sqlite"
        if not file.is_file():
            return 0
        with closing(sqlite3.connect(file)) as connection:
            return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])

    def result(self) -> Generated:
        """Return the record of the newest run that came to its end."""
        found = newest(self.workspace, Generated).result
        assert found is not None
        return found

    def candidates(self) -> list[str]:
        """Return every candidate of the workbench, as JSON."""
        return list(self._candidates())

    def _candidates(self) -> Iterator[str]:
        with open_bench(self.workspace) as bench:
            after = 0
            while page := bench.list_candidates(limit=500, after=after):
                yield from (one.candidate.model_dump_json() for one in page)
                after = page[-1].number


def same_result(one: Generated, other: Generated) -> bool:
    """Return whether two runs wrote the same, whatever was known already and when."""
    apart = {"made", "bills", "stored", "estimates"}
    return one.model_dump(exclude=apart) == other.model_dump(exclude=apart)


def serve(documents: Corpus, **options: object) -> LlmServer:
    """Return a server that describes and judges some documents."""
    describer = Describer(documents)
    return LlmServer(lambda question: describer.reply(question.system, question.user), **options)  # type: ignore[arg-type]


def read_documents(folder: Path) -> Corpus:
    """Return the documents of a folder."""
    return open_corpus(CorpusSettings(path=str(folder)), base=folder)
