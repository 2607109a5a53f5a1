"""findback's own log of MCP tool calls: one JSON object a line, written by its MCP server."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from findback.model.mcp_call import MCP_CALL_FORMAT, McpCall
from findback.sources.format import Reading, SourceOptions
from findback.sources.traces.drafts import Draft, Gathering, begin_reading, make_calls
from findback.sources.traces.evaluation import MARKED
from findback.sources.traces.look import Look, recognise_by
from findback.sources.traces.records import TraceRecord
from findback.sources.traces.values import FieldError, as_record

name = "mcp"
family = "traces"
rules = ("zero-result", "reformulation", "i-meant")


def recognise(path: Path) -> str | None:
    """Return why the path is an MCP log of findback, or None."""
    return recognise_by(path, _looks)


def read(path: Path, options: SourceOptions) -> Reading:
    """Begin reading. A turn is what a client sent with one `asked` in a row; without it, no wording is known."""
    return begin_reading(name, path, options, _gather)


def _looks(look: Look) -> str | None:
    columns = set(look.columns)
    if {"format", "session", "tool", "n_results", "documents"} <= columns:
        return f"findback's MCP log, format {look.record.get('format') if isinstance(look.record, dict) else '?'}"
    return None


def _gather(gathering: Gathering) -> Iterable[Draft]:
    drafts: list[Draft] = []
    current: dict[str, tuple[str | None, Draft]] = {}
    named: dict[tuple[str, str], Draft] = {}

    def take(record: TraceRecord) -> None:
        call = _call(record)
        key = call.turn or call.asked
        known = current.get(call.session)
        if call.turn is not None and (begun := named.get((call.session, call.turn))) is not None:
            # Two questions of one conversation may be searched for at the same time.
            known = (key, begun)
        if known is None or (key is not None and known[0] != key):
            draft = Draft(
                id=f"{call.session}#{call.turn or len(drafts)}",
                conversation=call.session,
                text=call.asked,
                at=call.at,
                system=call.system,
                place=record.place,
            )
            drafts.append(draft)
            current[call.session] = (key, draft)
            if call.turn is not None:
                named[call.session, call.turn] = draft
        else:
            draft = known[1]
            draft.text = draft.text or call.asked
        draft.marked = draft.marked or call.marker == MARKED
        draft.calls += make_calls(
            gathering.tools,
            key=record.key,
            tool=call.tool,
            mark="retriever",
            queries=(call.query,) if call.query else (),
            results=call.n_results,
            documents=call.documents,
            arguments=None if call.offset is None else {"offset": call.offset},
            started=call.at,
            batch=call.batch,
            failed=call.failed,
        )

    gathering.each(take)
    return drafts


def _call(record: TraceRecord) -> McpCall:
    value = as_record(record.value)
    if value.get("format") != MCP_CALL_FORMAT:
        raise FieldError(f"`format` must be {MCP_CALL_FORMAT}: a newer findback wrote this, or it is another file")
    try:
        return McpCall.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise FieldError(f"`{'.'.join(map(str, first['loc']))}`: {first['msg']}") from None
