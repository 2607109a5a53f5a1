"""OpenTelemetry traces of agents: OTLP JSON files, JSON Lines of them, or what the SDKs print."""

from collections.abc import Iterable
from pathlib import Path

from findback.sources.format import Reading, SourceOptions
from findback.sources.traces.drafts import Draft, Gathering, begin_reading
from findback.sources.traces.genai import genai_step
from findback.sources.traces.inference import KIND, see_inference
from findback.sources.traces.langfuse import LANGFUSE, see_langfuse_attributes
from findback.sources.traces.look import Look, recognise_by
from findback.sources.traces.otlp import OtelSpan, is_otlp, spans_of
from findback.sources.traces.records import TraceRecord
from findback.sources.traces.steps import Step, drafts_of
from findback.sources.traces.values import FieldError

name = "otel"
family = "traces"
rules = ("zero-result", "reformulation", "i-meant", "no-answer", "thumbs-down")


def recognise(path: Path) -> str | None:
    """Return why the path holds OpenTelemetry spans, or None."""
    return recognise_by(path, _looks)


def read(path: Path, options: SourceOptions) -> Reading:
    """Begin reading; spans may lie in any order and over several files."""
    return begin_reading(name, path, options, _gather)


def _looks(look: Look) -> str | None:
    if is_otlp(look.record) or b'"resourceSpans"' in look.head:
        return "OpenTelemetry spans (OTLP JSON)" if b"esource" in look.head[:2000] else "OpenTelemetry spans"
    return None


def _gather(gathering: Gathering) -> Iterable[Draft]:
    steps: list[Step] = []

    def take(record: TraceRecord) -> None:
        for span in spans_of(record.value):
            if isinstance(span, str):
                gathering.fault(record, span)
                continue
            try:
                step = step_of(span)
            except FieldError as fault:
                gathering.fault(record, f"span {span.id[:40]}: {fault}")
                continue
            step.place = record.place
            steps.append(step)

    gathering.each(take)
    return drafts_of(steps, gathering.tools)


def step_of(span: OtelSpan) -> Step:
    """Return the step a span is, by the conventions its attributes follow.

    Raises:
        FieldError: If attributes are not what they should be.
    """
    step = genai_step(span)
    if KIND in span.attributes:
        step.tool = step.tool or span.name or None
        see_inference(step, span.attributes)
    elif any(key.startswith(LANGFUSE) for key in span.attributes):
        see_langfuse_attributes(step, span)
    return step
