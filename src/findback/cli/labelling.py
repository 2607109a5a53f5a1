"""The dialogue of `findback label quick`."""

from rich.panel import Panel
from rich.text import Text

from findback.cli.shown import console, say
from findback.model.evaluation import Shown
from findback.model.question import Question
from findback.steps.label import Decision, LabelSession
from findback.text.safe import escape_terminal

HELP = (
    "numbers  these documents answer it (3, or 1 4)      /words  search with other words\n"
    "n        nothing here answers it, and nothing exists  s  skip for now   u  undo   q  stop; all is kept"
)


class Labelling:
    """Asks a person about one query after another."""

    def __init__(self, session: LabelSession) -> None:
        self._session = session
        self._console = console()

    def run(self) -> None:
        """Go through the queries until they are done or the person stops."""
        self._console.print(Text(HELP, style="dim"))
        waiting = self._session.waiting()
        while waiting:
            question = waiting.pop(0)
            said = self._ask(question)
            if said == "stop":
                return
            if said == "undo":
                waiting.insert(0, question)
                before = self._session.undo()
                if before is None:
                    say("nothing to undo in this sitting")
                else:
                    waiting.insert(0, before)

    def _ask(self, question: Question) -> str:
        session = self._session
        head = f"{session.decided + 1} of {session.total}"
        self._console.print(Panel(Text(escape_terminal(question.query), style="bold"), title=head, title_align="left"))
        shown = session.pool(question)
        self._list(shown)
        while True:
            try:
                answer = input("answer> ").strip()
            except EOFError:
                return "stop"
            if answer in {"q", "quit"}:
                return "stop"
            if answer == "u":
                return "undo"
            if answer in {"s", ""}:
                return "skipped"
            if answer in {"?", "h"}:
                self._console.print(Text(HELP, style="dim"))
            elif answer.startswith("/"):
                shown = session.search(answer[1:])
                self._list(shown)
            elif answer == "n":
                reason = input("why is there none? [not documented] ").strip() or "not documented"
                session.decide(question, Decision(no_answer_reason=reason))
                return "decided"
            else:
                chosen = self._read_numbers(answer, shown)
                if chosen:
                    session.decide(question, Decision(documents=chosen))
                    return "decided"

    def _list(self, shown: list[Shown]) -> None:
        for failure in self._session.failures:
            say(failure)
        self._session.failures.clear()
        if not shown:
            say("nothing found; /other words searches again, n says that nothing exists")
        for number, document in enumerate(shown, 1):
            line = Text(f"{number:>3}  ", style="bold")
            line.append(escape_terminal(document.title or document.document), style="bold")
            line.append(f"  {escape_terminal(document.document)}", style="dim")
            self._console.print(line)
            if document.extract:
                self._console.print(Text("     " + escape_terminal(document.extract)))

    def _read_numbers(self, answer: str, shown: list[Shown]) -> tuple[str, ...]:
        words = answer.replace(",", " ").split()
        if not all(word.isdecimal() and 1 <= int(word) <= len(shown) for word in words):
            numbers = f"numbers from 1 to {len(shown)}, " if shown else ""
            say(f"not understood; {numbers}/words, n, s, u, q or ?")
            return ()
        return tuple(dict.fromkeys(shown[int(word) - 1].document for word in words))
