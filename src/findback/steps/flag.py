"""Take a flag in: redacted like everything mined, kept for review, and answered with a link to what comes of it."""

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta

from findback.errors import FindbackError, MissingError, RefusedError
from findback.mining.rewrites import count_rewrites
from findback.model.candidate import Candidate, DocumentLink, RedactedText, RewriteCount, RuleHit, ThreadLine
from findback.model.case import Asked
from findback.model.flag import FlagReceipt, FlagRequest, FlagSource, FlagStatus
from findback.model.protocols import Documents, RawText
from findback.model.thread import Audience
from findback.model.turn import RetrievalCall, Turn
from findback.privacy.key import Key
from findback.privacy.opening import NO_VOCABULARY, open_redactor
from findback.privacy.thread_redactor import JointRedactor
from findback.privacy.vocabulary import read_vocabulary
from findback.steps.bench import open_bench, open_workspace_key
from findback.steps.candidates_of import ASKED
from findback.steps.casemaking import Reviewed
from findback.steps.opening import SetRequest, open_documents
from findback.text.languages import guess_language
from findback.workbench.reviews import answer_of
from findback.workbench.rows import StoredCandidate
from findback.workbench.store import Workbench
from findback.workspace import Workspace

RULE = "flag"
SHOWN = "shown"
"""Kind of the links to what a search showed: it was no help, so it speaks for nothing."""
NO_PAGE = "-"
"""Stands for the page where none is named: `findback purge --channel mcp:-`."""
WAITS = "It waits for a reviewer, and comes up first in the weekly review."


class FlagDesk:
    """Where flags come in; threads may share it. Documents and the redactor are opened when they are first needed."""

    def __init__(
        self, workspace: Workspace, bench: Workbench, key: Key, *, documents: Callable[[], Documents | None]
    ) -> None:
        self._workspace = workspace
        self._bench = bench
        self._key = key
        self._open_documents = documents
        self._documents: Documents | None = None
        self._redactor: JointRedactor | None = None
        self._lock = threading.Lock()

    def warm(self) -> None:
        """Begin to open what the first flag would wait for; it waits for the rest of that."""
        threading.Thread(target=self._warm, name="findback-flags", daemon=True).start()

    def flag(
        self,
        request: FlagRequest,
        *,
        via: FlagSource,
        audience: Audience | None = None,
        author: str | None = None,
        now: datetime,
    ) -> FlagReceipt:
        """Keep a flag, redacted, and return the token of its link.

        The same words from the same page, sent the same way within the days of `[flags]`, count as one flag; each
        sender gets a link of their own.

        Args:
            request: What was looked for.
            via: Where it came in.
            audience: Whose reviewers may see it; that of `[flags]` when None.
            author: The source's id of who wrote the words, where they are a message of somebody else's: kept as a
                digest, so that an erasure finds them. Of who flags nothing is kept.
            now: When it happens.

        Raises:
            RefusedError: If the words cannot be redacted whole, or somebody objected to flags from there.
            StorageError: If the database refuses.
        """
        with self._lock:
            # One at a time: what finds names is not made to be shared, and takes milliseconds.
            candidate, same = self._candidate(request, via, audience or self._workspace.settings.flags.audience, now)
            if author is not None:
                candidate = candidate.model_copy(update={"asker_hmac": self._key.hmac(author)})
        since = now - timedelta(days=self._workspace.settings.flags.fold_days)
        kept = self._bench.put_flag(candidate, same, since=since, bucket=_bucket, now=now)
        if kept is None:
            raise RefusedError("flags from there are not kept: somebody objected to it")
        return FlagReceipt(status=kept.token, new=kept.new, waits=f"{WAITS} The link says what comes of it.")

    def status(self, token: str) -> FlagStatus:
        """Return what came of the flag of a link.

        Raises:
            MissingError: If no flag has this link, or it was erased since: both look alike.
        """
        key = self._bench.flagged(token)
        stored = None if key is None else self._bench.candidate(key)
        if stored is None:
            raise MissingError("no flag has this link, or it was erased since")
        if stored.state == "released":
            return self._released(stored)
        since = stored.state_at.date()
        if stored.state == "rejected":
            said = "A reviewer read it. It becomes no test question, because nobody could judge it."
            return FlagStatus(state="rejected", says=said, since=since)
        if stored.state == "new":
            return FlagStatus(state="waits", says="It waits for a reviewer.", since=since)
        said = {
            "needs-labels": "It was read, and waits for somebody who knows what answers it.",
            "second-opinion": "It was read, and waits for a second opinion.",
            "ready": "It was reviewed, and comes into the next release of the test set.",
        }.get(stored.state, "Somebody is reviewing it.")
        return FlagStatus(state="in-review", says=said, since=since)

    def _released(self, stored: StoredCandidate) -> FlagStatus:
        key = stored.candidate.key
        deciding = Reviewed(stored, self._bench.reviews_of(key, stored), ()).deciding
        known = self._bench.cases([key])
        release = known[0].release if known else None
        which = "a release" if release is None else f"release {release}"
        if deciding is not None and answer_of(deciding.review) == "no-answer":
            said = f"No document answers it. It came into {which} of the test set as such."
            return FlagStatus(state="no-answer", says=said, release=release, since=stored.state_at.date())
        said = f"It came into {which} of the test set: from now on the search is measured on it."
        return FlagStatus(state="became-case", says=said, release=release, since=stored.state_at.date())

    def _warm(self) -> None:
        # What is wrong is told to whoever sends the first flag.
        with self._lock, suppress(FindbackError):
            self._open()

    def _open(self) -> JointRedactor:
        if self._redactor is None:
            with suppress(FindbackError):
                # Documents that cannot be read lose what was shown, and must not lose the flag.
                self._documents = self._open_documents()
            vocabulary = NO_VOCABULARY if self._documents is None else read_vocabulary(self._documents)
            settings = self._workspace.settings
            opened = open_redactor(
                self._key,
                settings.privacy,
                vocabulary=vocabulary,
                names=None if settings.mining.names else "roster",
            )
            self._redactor = opened.redactor
        return self._redactor

    def _candidate(
        self, request: FlagRequest, via: FlagSource, audience: Audience, now: datetime
    ) -> tuple[Candidate, str]:
        """Return a flag as a candidate, and the digest of what makes two flags one."""
        redactor = self._open()
        around = [] if request.note is None else [request.note]
        around += [] if request.page is None else [f"on the page {request.page}"]
        query, *rest = redactor.redact_all([RawText(text) for text in (request.query, *around)])
        container = redactor.hmac(f"container\0{via}\0{request.page or NO_PAGE}")
        same = redactor.hmac(f"same flag\0{audience}\0{container}\0{query.text}")
        links = self._shown(request.shown)
        candidate = Candidate(
            key=redactor.hmac(f"flag\0{secrets.token_hex(32)}"),
            source=via,
            container_hmac=container,
            audience=audience,
            query=query,
            query_line=-1,
            thread=tuple(
                ThreadLine(
                    key=redactor.hmac(f"{same}\0{body.raw_hmac}"),
                    role="asker" if raw is request.note else "bot",
                    author_hmac=None,
                    at=None,
                    body=body,
                )
                for raw, body in zip(around, rest, strict=True)
            ),
            rules=(RuleHit(rule=RULE, strength="strong", evidence=_evidence(request, len(links))),),
            links=links,
            origin="flagged",
            selected_on=self._workspace.settings.flags.selected_on,
            language=_language(query, request),
            seen_on=now.astimezone(UTC).strftime("%Y-%m"),
            rewrites=_count_tried(request, self._documents),
        )
        return candidate, same

    def _shown(self, shown: tuple[str, ...]) -> tuple[DocumentLink, ...]:
        """Return links to the documents that were shown; addresses of anything else may hold anything and go."""
        if self._documents is None:
            return ()
        known = (self._documents.resolve(one) for one in shown)
        documents = dict.fromkeys(one for one in known if one is not None)
        return tuple(DocumentLink(document=one, line=-1, by="bot", kind=SHOWN) for one in documents)


@contextmanager
def open_flag_desk(workspace: Workspace, documents: Documents | None = None) -> Iterator[FlagDesk]:
    """Open the place where flags come in for a while, with the workbench.

    Args:
        workspace: Whose flags.
        documents: The corpus where somebody has opened it; read with the first flag when None.

    Raises:
        StorageError: If disk or server refuse.
        RefusedError: If the workbench was made with another key or by a newer findback.
    """
    key = open_workspace_key(workspace)
    with open_bench(workspace, key) as bench:
        yield FlagDesk(workspace, bench, key, documents=lambda: documents or open_documents(workspace, SetRequest()))


def _bucket(count: int) -> Asked:
    return next(name for least, name in ASKED if count >= least)


def _evidence(request: FlagRequest, known: int) -> str:
    said = [f"{len(request.shown)} results shown, {known} of them documents" if request.shown else "no results named"]
    said += [f"{len(request.tried)} more wordings tried"] if request.tried else []
    return "; ".join(said)


def _language(query: RedactedText, request: FlagRequest) -> str | None:
    named = request.language.partition("-")[0].lower() if request.language else None
    return guess_language(query.text) or named


def _count_tried(request: FlagRequest, documents: Documents | None) -> RewriteCount | None:
    calls = tuple(
        RetrievalCall(id=str(at), tool="search", query=text, order=at) for at, text in enumerate(request.tried)
    )
    turn = Turn(id="", source=RULE, conversation=None, user=None, text=request.query, at=None, calls=calls)
    return count_rewrites(turn, documents)
