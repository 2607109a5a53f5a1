"""Claude Code sessions: JSON Lines, or the JSON that the web interface exports."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from findback.sources.format import Reading, SourceOptions
from findback.sources.traces.drafts import Draft, Gathering, begin_reading
from findback.sources.traces.look import Look, recognise_by
from findback.sources.traces.messages import Said, read_message
from findback.sources.traces.records import TraceRecord
from findback.sources.traces.tree import Node, turns_of_tree
from findback.sources.traces.values import FieldError, as_list, as_record, as_text, as_time

name = "claude-code"
family = "traces"
rules = ("zero-result", "reformulation", "i-meant", "no-answer")

OTHER_LINES = "lines that are no messages"
META_LINES = "lines the program wrote in the person's name"

_MESSAGES = frozenset({"user", "assistant"})
_TAGS = "system-reminder|command-name|command-message|command-args|command-contents|local-command-[a-z]+|bash-[a-z]+"
_INSERTED = re.compile(rf"<({_TAGS})>.*?(?:</\1>|\Z)", re.DOTALL)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]{0,40}\]")


def recognise(path: Path) -> str | None:
    """Return why the path holds Claude Code sessions, or None."""
    return recognise_by(path, _looks)


def read(path: Path, options: SourceOptions) -> Reading:
    """Begin reading. No tool counts as search by itself: Grep and Glob navigate code, WebSearch searches the web."""
    return begin_reading(name, path, options, _gather)


def _looks(look: Look) -> str | None:
    columns = set(look.columns)
    if "loglines" in columns or look.head[:200].lstrip(b"{ \r\n\t").startswith(b'"loglines"'):
        return "a Claude Code session from the web"
    if "type" in columns and columns & {"sessionId", "leafUuid", "parentUuid", "isSidechain"}:
        return "a Claude Code session"
    return None


def _gather(gathering: Gathering) -> Iterable[Draft]:
    nodes: list[Node] = []
    previous: dict[str, str] = {}

    def take(record: TraceRecord) -> None:
        value = as_record(record.value)
        lines = as_list(value["loglines"], "loglines") if "loglines" in value else [value]
        for number, line in enumerate(lines):
            try:
                node = _node(as_record(line), record, len(nodes), previous, gathering)
            except FieldError as fault:
                where = f"loglines[{number}]: " if len(lines) > 1 else ""
                gathering.fault(record, f"{where}{fault}")
                continue
            if node is not None:
                nodes.append(node)

    gathering.each(take)
    return turns_of_tree(nodes, gathering.tools)


def _node(
    line: Mapping[str, Any], record: TraceRecord, position: int, previous: dict[str, str], gathering: Gathering
) -> Node | None:
    kind = as_text(line.get("type"), "type")
    identity = as_text(line.get("uuid"), "uuid")
    file = record.place.file
    if kind not in _MESSAGES:
        gathering.skipped.add(OTHER_LINES)
        if identity is None:
            return None
    identity = identity or f"{Path(file).name}#{position}"
    # Exports without parents are read in their order; a parent of null is a root.
    parent = as_text(line["parentUuid"], "parentUuid") if "parentUuid" in line else previous.get(file)
    previous[file] = identity
    conversation = as_text(line.get("sessionId"), "sessionId") or Path(file).stem
    folder = as_text(line.get("cwd"), "cwd")
    node = Node(
        id=identity,
        conversation=conversation,
        parent=parent,
        aside=line.get("isSidechain") is True,
        project=re.split(r"[\\/]", folder.rstrip("\\/"))[-1] if folder else None,
        place=record.place,
    )
    if kind in _MESSAGES:
        node.said = _said(line, kind, gathering)
    return node


def _said(line: Mapping[str, Any], kind: str | None, gathering: Gathering) -> Said | None:
    message = as_record(line.get("message"))
    said = read_message({"role": kind, **message})
    if said is None:
        return None
    said.at = as_time(line.get("timestamp"), "timestamp")
    said.id = None
    _take_structured(said, line.get("toolUseResult"))
    if kind == "user":
        said.text = _own_words(said.text)
        if said.text and not _is_person(line, said):
            said.text = None
            gathering.skipped.add(META_LINES)
    return said


def _is_person(line: Mapping[str, Any], said: Said) -> bool:
    """Say whether a line of type user was typed: tool results, summaries and other programs' words are not."""
    if said.answers or line.get("isMeta") is True or line.get("isCompactSummary") is True:
        return False
    origin = line.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    return kind is None or kind == "human"


def _own_words(text: str | None) -> str | None:
    """Return a person's text without what the program put into it; None when nothing is left."""
    if text is None:
        return None
    left = _INTERRUPTED.sub("", _INSERTED.sub("", text)) if "<" in text or "[" in text else text
    if left == text:
        return text if text.strip() else None
    return left.strip() or None


def _take_structured(said: Said, result: Any) -> None:
    """Prefer the structured form of a tool's answer, which can be counted, to the text the model was shown."""
    if len(said.answers) == 1 and isinstance(result, (dict, list)):
        call, _, failed = said.answers[0]
        said.answers[0] = (call, result, failed)
