"""The dialogue of `findback review --terminal`: the steps of the page, one line at a time."""

import re
import uuid
from collections.abc import Callable
from datetime import datetime

from findback.cli.reviewshown import HELP, show_documents, show_item, show_text_of
from findback.cli.shown import console, say
from findback.errors import FindbackError, UsageError
from findback.model.candidate import RedactedSpan
from findback.model.case import WORDINGS
from findback.model.review import Review, SpanDecision
from findback.model.reviewer import Reviewer
from findback.steps.kept import now as moment
from findback.steps.review import (
    Desk,
    Item,
    QueueFilters,
    leave,
    next_item,
    open_item,
    reject,
    reserve,
    save,
    submit,
    undo,
    visible,
)
from findback.steps.reviewchange import (
    decide_span,
    drop_document,
    grade_document,
    redact_words,
    refuse_answer,
    turn_part,
)
from findback.steps.reviewpool import Pooled, find_document, pool, search_documents, show_text
from findback.steps.reviewspans import Place, texts_of
from findback.steps.sheetcells import list_suggestions
from findback.workbench.faults import ConflictError
from findback.workbench.reviews import ReviewConflictError

_GRADES = re.compile(r"([0-9]{1,3})(?:=([0-3-]))?", re.ASCII)

Change = Callable[[Review], Review]


class Stopped(Exception):  # noqa: N818  (not an error: the person is done)
    """The person stops."""


class Reviewing:
    """One sitting of one person: every decision is saved when it is made."""

    def __init__(self, desk: Desk, reviewer: Reviewer, *, now: Callable[[], datetime] = moment) -> None:
        self._desk = desk
        self._who = reviewer
        self._now = now
        self._console = console()
        self._opened: set[Place] = set()
        self._listed: list[Pooled] = []
        self._done: list[str] = []
        self._item: Item | None = None
        self.submitted = 0
        """Reviews handed in, in this sitting."""

    def run(self) -> None:
        """Go through what waits until nothing does or the person stops."""
        self._console.print(HELP, style="dim")
        key = self._next(None)
        try:
            while key is not None:
                key = self._review(key)
        except (Stopped, EOFError):
            return
        finally:
            if self._item is not None:
                leave(self._desk, self._who, self._item.key)
        say("nothing more waits for you")

    def _next(self, after: str | None) -> str | None:
        return next_item(self._desk, self._who, QueueFilters(), now=self._now(), after=after)

    def _review(self, key: str) -> str | None:
        """Go through one candidate; return which one is next."""
        self._opened.clear()
        try:
            reserve(self._desk, self._who, key, now=self._now())
        except ConflictError as error:
            say(error.message)
            return self._next(key)
        self._open(key)
        self._list_answers()
        while True:
            line = input("review> ").strip()
            try:
                following = self._do(line)
            except ReviewConflictError:
                say("this review was changed elsewhere meanwhile; here is how it stands now")
                self._open(key)
            except FindbackError as error:
                say(error.message if error.hint is None else f"{error.message} ({error.hint})")
            else:
                if following is not None:
                    return self._after(following)

    def _after(self, following: str) -> str | None:
        """Leave the open candidate: for another one that is named, or for the next."""
        key = self._now_open().key
        leave(self._desk, self._who, key)
        self._item = None
        return following or self._next(key)

    def _open(self, key: str) -> None:
        self._item = open_item(self._desk, self._who, key, now=self._now(), opened=self._opened)
        numbers = {span.start: number for number, span in enumerate(self._suggestions(), 1)}
        show_item(self._console, self._item, numbers)

    def _now_open(self) -> Item:
        assert self._item is not None  # noqa: S101  (commands come only while one is open)
        return self._item

    def _do(self, line: str) -> str | None:
        """Do what a line says; return None to stay, a key to go there, empty for the next."""
        if not line:
            return ""
        word, _, rest = line.partition(" ")
        if line.startswith("/"):
            self._list(search_documents(self._desk, self._now_open(), line[1:]))
        elif word in _COMMANDS:
            return _COMMANDS[word](self, rest.strip())
        elif all(_GRADES.fullmatch(one) for one in line.replace(",", " ").split()):
            self._grade(line.replace(",", " ").split())
        else:
            say("not understood; ? lists what is")
        return None

    def _change(self, change: Change) -> None:
        """Save the review with a change, and say how it stands."""
        item = self._now_open()
        changed = change(item.review)
        save(
            self._desk,
            self._who,
            item.key,
            changed,
            revision=item.revision,
            now=self._now(),
            request_id=uuid.uuid4().hex,
        )
        self._open(item.key)

    def _list(self, documents: list[Pooled]) -> None:
        for failure in dict.fromkeys(self._desk.failures):
            say(failure)
        self._desk.failures.clear()
        self._listed = documents
        show_documents(self._console, documents, described=self._now_open().origin == "generated")

    def _document(self, number: str) -> Pooled:
        if not (number.isascii() and number.isdecimal() and 1 <= int(number) <= len(self._listed)):
            raise UsageError(f"there is no document {number[:20]}; they are numbered from 1 to {len(self._listed)}")
        return self._listed[int(number) - 1]

    def _grade(self, said: list[str]) -> None:
        chosen = []
        for one in said:
            number, _, grade = one.partition("=")
            chosen.append((self._document(number).document, None if grade == "-" else int(grade or "3")))

        def graded(review: Review) -> Review:
            for document, grade in chosen:
                review = grade_document(review, document, grade)
            return review

        self._change(graded)

    def part(self, rest: str) -> None:
        """Turn "also answers it" into "needed as well", and back."""
        document = self._document(rest).document
        self._change(lambda review: turn_part(review, document))

    def drop(self, rest: str) -> None:
        """Take a document of the resolver as no answer."""
        number, _, reason = rest.partition(" ")
        document = self._document(number).document
        self._change(lambda review: drop_document(review, document, reason))

    def add(self, rest: str) -> None:
        """Find a document by id, path or address."""
        found = find_document(self._desk, self._now_open(), rest)
        if found is None:
            raise UsageError("the corpus has no such document")
        self._list([*self._listed, found])

    def view(self, rest: str) -> None:
        """Show a document."""
        show_text_of(self._console, show_text(self._desk, self._document(rest).document))

    def keep(self, rest: str) -> None:
        """Leave suggestions as they are."""
        self._decide(rest, "keep")

    def redact(self, rest: str) -> None:
        """Redact suggestions."""
        self._decide(rest, "redact")

    def _decide(self, rest: str, action: str) -> None:
        query, suggestions = self._now_open().query, self._suggestions()
        numbers = [str(at) for at in range(1, len(suggestions) + 1)] if rest in ("", "all") else rest.split()
        if not numbers or any(not (n.isascii() and n.isdecimal() and 1 <= int(n) <= len(suggestions)) for n in numbers):
            raise UsageError(f"the question has {len(suggestions) or 'no'} suggestions; name their numbers")

        def decided(review: Review) -> Review:
            for number in numbers:
                span = suggestions[int(number) - 1]
                where = {"place": query.place, "position": query.position, "start": span.start, "end": span.end}
                decision = SpanDecision.model_validate({**where, "type": span.type, "action": action})
                review = decide_span(review, decision)
            return review

        self._change(decided)

    def _suggestions(self) -> list[RedactedSpan]:
        item = self._now_open()
        candidate = visible(self._desk, self._who, item.key).candidate
        return list_suggestions(texts_of(candidate)[item.query.place, item.query.position])

    def hide(self, rest: str) -> None:
        """Redact words wherever they stand in this candidate."""
        kind, _, words = rest.partition(" ")
        candidate = visible(self._desk, self._who, self._now_open().key).candidate
        self._change(lambda review: redact_words(candidate, review, words, kind.upper()))

    def take_back(self, rest: str) -> str | None:
        """Take back the newest change; at a candidate without one, go back to the one before."""
        item = self._now_open()
        try:
            undo(self._desk, self._who, item.key, revision=item.revision, now=self._now())
        except UsageError:
            if not self._done:
                raise
            before = self._done.pop()
            earlier = open_item(self._desk, self._who, before, now=self._now())
            undo(self._desk, self._who, before, revision=earlier.revision, now=self._now())
            self.submitted -= 1
            return before
        self._open(item.key)
        return None

    def word(self, rest: str) -> None:
        """Say how it is worded."""
        known = (*WORDINGS, *self._desk.settings.wordings)
        fitting = [one for one in known if rest and one.casefold().startswith(rest.casefold())]
        if len(fitting) != 1:
            raise UsageError(f"wordings are {', '.join(known)}; the first letters are enough")
        self._change(lambda review: review.model_copy(update={"wording": fitting[0]}))

    def none(self, rest: str) -> None:
        """Say that nothing answers it, and why."""
        self._refuse(rest, wanted=False)

    def wanted(self, rest: str) -> None:
        """Say that nothing answers it and somebody should write what would."""
        self._refuse(rest, wanted=True)

    def _refuse(self, reason: str, *, wanted: bool) -> None:
        if not reason:
            self._change(lambda review: review.model_copy(update={"no_answer_reason": None, "document_wanted": False}))
            return
        self._change(lambda review: refuse_answer(review, reason, wanted=wanted))

    def unseen(self, rest: str) -> None:
        """Say that the asker could not open what answers, or take that back."""
        self._change(lambda review: review.model_copy(update={"not_visible": not review.not_visible}))

    def note(self, rest: str) -> None:
        """Write a note; without words it goes."""
        self._change(lambda review: Review.model_validate({**review.model_dump(), "note": rest or None}))

    def message(self, rest: str) -> None:
        """Take another message of the thread as the question."""
        lines = len(self._now_open().thread)
        if not (rest.isascii() and rest.isdecimal() and 1 <= int(rest) <= lines):
            raise UsageError(f"messages are numbered from 1 to {lines}" if lines else "there is no thread")
        self._change(lambda review: review.model_copy(update={"query_line": int(rest) - 1}))

    def open_all(self, rest: str) -> None:
        """Show what is masked in the thread."""
        item = self._now_open()
        self._opened = {("title", 0), *(("line", view.position) for view in item.thread)}
        self._open(item.key)

    def hand_in(self, rest: str) -> str:
        """Submit and go on."""
        item = self._now_open()
        said = {"later_reason": None, "unrateable_reason": None}
        return self._hand_in(item, item.review.model_copy(update=said))

    def later(self, rest: str) -> str:
        """Hand in that it waits, and for whom."""
        if not rest:
            raise UsageError("say who or what could tell")
        item = self._now_open()
        return self._hand_in(item, Review.model_validate({**item.review.model_dump(), "later_reason": rest[:2_000]}))

    def reject(self, rest: str) -> str:
        """Hand in that nobody can judge it, and why."""
        item = self._now_open()
        done = reject(
            self._desk,
            self._who,
            item.key,
            rest,
            revision=item.revision,
            now=self._now(),
            request_id=uuid.uuid4().hex,
        )
        return self._went(item, done.state)

    def _hand_in(self, item: Item, review: Review) -> str:
        done = submit(
            self._desk,
            self._who,
            item.key,
            review,
            revision=item.revision,
            now=self._now(),
            request_id=uuid.uuid4().hex,
        )
        return self._went(item, done.state)

    def _went(self, item: Item, state: str) -> str:
        self._done.append(item.key)
        self.submitted += 1
        say(f"submitted: {state}")
        return ""

    def _list_answers(self) -> None:
        item = self._now_open()
        # A paraphrase has the answers of the case it was made from.
        if item.origin != "paraphrase":
            self._list(pool(self._desk, self._who, item))

    def list_again(self, rest: str) -> None:
        """Show the candidate and its documents again."""
        item = self._now_open()
        self._open(item.key)
        self._list_answers()

    def help(self, rest: str) -> None:
        """List the commands."""
        self._console.print(HELP, style="dim")

    def stop(self, rest: str) -> None:
        """Stop."""
        raise Stopped


Command = Callable[[Reviewing, str], str | None]

_COMMANDS: dict[str, Command] = {
    "k": Reviewing.keep,
    "r": Reviewing.redact,
    "hide": Reviewing.hide,
    "p": Reviewing.part,
    "x": Reviewing.drop,
    "+": Reviewing.add,
    "v": Reviewing.view,
    "w": Reviewing.word,
    "n": Reviewing.none,
    "n!": Reviewing.wanted,
    "f": Reviewing.unseen,
    "c": Reviewing.note,
    "m": Reviewing.message,
    "o": Reviewing.open_all,
    "u": Reviewing.take_back,
    "s": Reviewing.hand_in,
    "l": Reviewing.later,
    "j": Reviewing.reject,
    "d": Reviewing.list_again,
    "?": Reviewing.help,
    "q": Reviewing.stop,
}
