"""Candidates as mining hands them over: redacted, keyed by digests, of invented people."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from findback.model.candidate import (
    Candidate,
    DocumentLink,
    RedactedSpan,
    RedactedText,
    RewriteCount,
    RuleHit,
    ThreadLine,
)
from findback.model.written import Fidelity, Written

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def digest(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()


def text(written: str, *people: str) -> RedactedText:
    """Redact: each `{}` of the text becomes a placeholder for the next of the people, numbered by first use."""
    spans, pieces, at = [], written.split("{}"), 0
    numbers: dict[str, int] = {}
    redacted = pieces[0]
    for person, piece in zip(people, pieces[1:], strict=True):
        number = numbers.setdefault(person, len(numbers) + 1)
        at = len(redacted)
        redacted += f"⟦PERSON_{number}⟧"
        spans.append(span(at, len(redacted), value_hmac=digest(person)))
        redacted += piece
    return RedactedText(text=redacted, spans=tuple(spans), raw_hmac=digest(f"{written}|{people}"))


def span(start: int, end: int, **fields: Any) -> RedactedSpan:
    return RedactedSpan(
        **{"type": "PERSON", "rule": "roster", "version": "1", "band": "applied", **fields}, start=start, end=end
    )


def line(key: str, author: str | None, body: RedactedText | str, minute: int | None = 0, **fields: Any) -> ThreadLine:
    return ThreadLine(
        key=digest(key),
        role=fields.pop("role", "other"),
        author_hmac=None if author is None else digest(author),
        at=None if minute is None else NOON + timedelta(minutes=minute),
        body=text(body) if isinstance(body, str) else body,
        **fields,
    )


def candidate(name: str, asker: str | None = "ana", replies: Sequence[ThreadLine] = (), **fields: Any) -> Candidate:
    """A question in a thread: its first line is the query."""
    query = fields.pop("query", f"where is the page about {name}?")
    body = text(query) if isinstance(query, str) else query
    first = line(name, asker, body, role="asker")
    values: dict[str, Any] = {
        "key": digest(name),
        "source": "slack",
        "container_hmac": digest("help"),
        "audience": "public",
        "query": body,
        "query_line": 0,
        "thread": (first, *replies),
        "rules": (RuleHit(rule="link-thanks", strength="strong", evidence="thanks after 2 minutes"),),
        **fields,
    }
    return Candidate(**values)


def searched(name: str, asker: str | None = "ana", **fields: Any) -> Candidate:
    """A question from a search log: no thread."""
    return candidate(
        name,
        asker,
        source="opensearch",
        thread=(),
        query_line=-1,
        asker_hmac=None if asker is None else digest(asker),
        rules=(RuleHit(rule="zero-result", strength="medium"),),
        **fields,
    )


def full(name: str = "full") -> Candidate:
    """A candidate in which every field says something, with characters databases stumble over."""
    odd = "NUL \x00, escape \x1a0041, lone \ud800, 😀 é, quote ' \" \\ %s :now, ⟦USER_1⟧"
    body = RedactedText(
        text=odd,
        spans=(
            span(odd.index("⟦"), len(odd), type="USER", value_hmac=digest("bo")),
            span(0, 3, band="suggested", rule="names", version="2"),
        ),
        raw_hmac=digest(odd),
    )
    return candidate(
        name,
        "ana",
        [
            line("r1", "bo", text("ask {} or {}, says {}", "cy", "di", "cy"), 3, role="resolver", edited=True),
            line("r2", None, "no time known", None, role="bot"),
        ],
        query=body,
        title=text("title for {}", "bo"),
        cue_line=1,
        rules=(
            RuleHit(rule="cue", strength="weak", evidence="en:where is"),
            RuleHit(rule="link-thanks", strength="strong"),
        ),
        links=(
            DocumentLink(document="docs/a b.md", line=1, by="resolver", kind="url-in-text", created_before=True),
            DocumentLink(document="docs/ü.md", line=-1, by="other", kind="structured-attach"),
        ),
        stratum="control",
        selected_on="portal",
        language="de",
        seen_on="2024-05",
        asked="2-4",
        merged=3,
        outcome=False,
        rewrites=RewriteCount(calls=4, distinct=3, shared_words=0.25, found_gold=(True, False, None)),
        no_answer_hint="nobody knew",
        file="export\udcff.zip!general/2024-05-06.json",
        offset=5_000_000_000,
        root="c0000000001",
        written=written("docs/ü.md", doubts=("judge was not sure",), matched="asked.jsonl@0123456789ab"),
    )


def written(document: str | None, **fields: Any) -> Written:
    """How an invented model came to write about a document."""
    values: dict[str, Any] = {
        "model": "scripted:writer",
        "parameters": {"temperature": 0.7},
        "prompt": "describe@0123456789ab",
        "voice": {"who": "a nurse", "length": "one line"},
        "preset": "docs-portal",
        "document": document,
        "attempt": 2,
        "findback": "1.0",
        "written_on": date(2024, 5, 6),
        "leak": 0.25,
        "leak_measure": "leak@1",
        "overlap": 0.5,
        "fidelity": Fidelity(asked=3, source=2, others={"docs/b.md": 1}),
    }
    return Written(**(values | fields))


def described(name: str, document: str, *others: str, **fields: Any) -> Candidate:
    """A question that a model wrote about a document."""
    kinds = ["described", *("described-too" for _ in others)]
    links = [
        DocumentLink(document=one, line=-1, by="bot", kind=kind)
        for one, kind in zip((document, *others), kinds, strict=True)
    ]
    return candidate(
        name,
        None,
        source="model",
        thread=(),
        query_line=-1,
        rules=(RuleHit(rule="generated", strength="medium"),),
        links=tuple(links),
        origin="generated",
        stratum="control",
        written=fields.pop("written", written(document)),
        **fields,
    )


def paraphrased(name: str, root: str, **fields: Any) -> Candidate:
    """A question that a model put in other words."""
    return candidate(
        name,
        None,
        source="model",
        thread=(),
        query_line=-1,
        rules=(RuleHit(rule="paraphrase", strength="medium"),),
        origin="paraphrase",
        root=root,
        written=fields.pop("written", written(None, prompt="paraphrase@0123456789ab")),
        **fields,
    )
