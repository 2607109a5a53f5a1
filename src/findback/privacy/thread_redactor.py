"""Redacts the texts of one thread together and keeps what can be checked later."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from findback.errors import RefusedError
from findback.model.candidate import RedactedSpan, RedactedText
from findback.model.hits import Span
from findback.model.protocols import RawText
from findback.model.settings import PrivacySettings
from findback.model.thread import Mark, Person
from findback.privacy.core import CoreRedactor, fold_forms, mask_placeholders, mask_spans
from findback.privacy.finding import PRIORITY, Finding
from findback.privacy.joint import Found, Numbering
from findback.privacy.key import Key, same_value
from findback.privacy.roster import Roster
from findback.text.placeholders import find_placeholders, is_only_redacted, list_faults, write_placeholder

_ROUNDS = 6
_MENTIONED = re.compile(r"[A-Z0-9]{5,25}")
_REMEMBERED = {"PERSON": "PERSON", "USER": "PERSON", "EMAIL": "EMAIL", "PHONE": "PHONE", "CUSTOMER_ID": "CUSTOMER_ID"}
_MARKED = {"user": "USER", "group": "USER", "mail": "EMAIL"}


class Detector(Protocol):
    """Finds more than rules and roster do; needs a library that is not always there."""

    @property
    def version(self) -> str:
        """Name and version of the detector and of its model."""
        ...

    def find_all(self, texts: Sequence[str]) -> list[list[Finding]]:
        """Return what each text holds; what was found already is masked in it."""
        ...


class _Draft(NamedTuple):
    """A text with what was found in it so far."""

    raw: str
    applied: list[Found]
    suggested: list[Found]
    code: tuple[tuple[int, int], ...]


class JointRedactor:
    """Replaces all that rules, roster and further detectors find, numbered over the texts of a thread.

    A `ThreadRedactor`. Placeholders of a person (name, mention, address) share one number. The texts around
    the placeholders stay as they were, byte for byte, which is asserted for each; a text that cannot be looked
    at whole, or in which a second look still finds something, is refused with its thread.
    """

    def __init__(
        self,
        key: Key,
        *,
        settings: PrivacySettings | None = None,
        roster: Roster | None = None,
        detectors: Sequence[Detector] = (),
    ) -> None:
        self._key = key
        self._core = CoreRedactor(settings)
        self._roster = roster or Roster(())
        self._detectors = tuple(detectors)
        self.version = "+".join(
            [self._core.version, self._roster.version, *(detector.version for detector in self._detectors)]
        )

    def hmac(self, value: str) -> str:
        """Return the keyed digest of a value, in hexadecimal."""
        return self._key.hmac(value)

    def redact_all(self, texts: Sequence[RawText], *, people: Collection[str] = ()) -> list[RedactedText]:
        """Return the texts redacted, placeholders numbered by first appearance over all of them.

        Args:
            texts: The texts of one thread, in order.
            people: Ids of those who wrote in it, to tell which of two namesakes is meant.

        Raises:
            RefusedError: If one of them cannot be looked at whole; then none of them may be kept.
        """
        drafts = self._find(texts)
        present = {
            *people,
            *(mark.value for text in texts for mark in text.marks if mark.kind == "user" and mark.value),
        }
        for _ in range(_ROUNDS):
            redacted = self._render(drafts, present)
            changed = [
                at for at, draft in enumerate(drafts) if draft.applied and self._second_look(draft, redacted[at])
            ]
            if not changed:
                return redacted
            self._look(drafts, changed, self._roster)
        raise RefusedError("a thread does not come to rest under redaction", hint="leave it out")

    def find_all(self, texts: Sequence[str]) -> list[list[Finding]]:
        """Return what would go and what would be suggested, each text for itself; for measuring.

        Raises:
            RefusedError: If one of them cannot be looked at whole.
        """
        return [
            [found.finding for found in sorted([*draft.applied, *_outside(draft.suggested, draft.applied)])]
            for text in texts
            for draft in self._find([RawText(text)])
        ]

    def _find(self, texts: Sequence[RawText]) -> list[_Draft]:
        drafts = [self._begin(text) for text in texts]
        self._look(drafts, range(len(drafts)), self._roster)
        self._look_further(drafts)
        self._look_for_people(drafts, texts)
        return drafts

    def _begin(self, text: RawText) -> _Draft:
        """Return a text with what its own markup says, and with whatever in it could pass for a placeholder."""
        applied: list[Found] = []
        at = 0
        for mark in sorted(text.marks):
            if mark.kind not in _MARKED:
                continue
            start, end = mark.span
            if not 0 <= start <= end <= len(text.text):
                raise RefusedError("a mark lies outside its text", hint="the reader of this source is at fault")
            start = max(start, at)
            if start >= end:
                continue
            applied.append(self._of_mark(mark, text.text, start, end))
            at = end
        for placeholder in find_placeholders(text.text):
            foreign = Found(Finding(*placeholder.span, "OTHER", "placeholder.foreign"), version=self._core.version)
            applied += list(_outside([foreign], applied))
        code = tuple((mark.span.start, mark.span.end) for mark in text.marks if mark.kind == "code")
        return _Draft(text.text, applied, [], code)

    def _of_mark(self, mark: Mark, text: str, start: int, end: int) -> Found:
        finding = Finding(start, end, _MARKED[mark.kind], f"markup.{mark.kind}")
        people: tuple[str, ...] = ()
        if mark.kind == "user":
            people = (mark.value,) if mark.value else self._roster.with_name(text[start:end])
        return Found(finding, people, mark.value, self._core.version)

    def _of_rule(self, finding: Finding, text: str) -> Found:
        if finding.rule == "markup.mention" and (id_ := _MENTIONED.search(text, finding.start, finding.end)):
            return Found(finding, (id_[0],), id_[0], self._core.version)
        return Found(finding, version=self._core.version)

    def _look(self, drafts: Sequence[_Draft], places: Iterable[int], roster: Roster) -> None:
        """Add what rules and roster find in the texts at some places, until nothing new turns up."""
        for place in places:
            draft = drafts[place]
            for _ in range(_ROUNDS):
                before = len(draft.applied)
                held = [_extent(found) for found in draft.applied]
                draft.applied.extend(self._of_rule(finding, draft.raw) for finding in self._core.find(draft.raw, held))
                _add_mentions(draft, roster)
                if len(draft.applied) == before:
                    break

    def _look_further(self, drafts: Sequence[_Draft]) -> None:
        """Add what the other detectors find; all texts at once, which is how they are fast."""
        for detector in self._detectors:
            masked = [
                mask_spans(draft.raw, [*(_extent(found) for found in draft.applied), *draft.code]) for draft in drafts
            ]
            try:
                everything = detector.find_all(masked)
            except Exception as error:  # noqa: BLE001 - whatever a library raises may quote the text
                raise RefusedError(
                    f"the detector {detector.version} failed with {type(error).__name__}",
                    hint="leave the text out, or mine without this detector",
                ) from None
            for draft, findings in zip(drafts, everything, strict=True):
                _add(draft, (Found(finding, version=detector.version) for finding in findings))

    def _look_for_people(self, drafts: Sequence[_Draft], texts: Sequence[RawText]) -> None:
        """Find people named in one text of the thread in its other texts too."""
        named = {
            same_value("PERSON", draft.raw[slice(*_extent(found))]): draft.raw[slice(*_extent(found))]
            for draft in drafts
            for found in draft.applied
            if found.finding.type == "PERSON" and not found.people
        }
        people = [Person(f"name {folded}", (name,)) for folded, name in named.items()]
        people += _mentioned(texts, self._roster)
        if people:
            roster = Roster(people)
            for draft in drafts:
                for at, found in enumerate(draft.applied):
                    if found.finding.type == "PERSON" and not found.people:
                        bearers = roster.with_name(draft.raw[slice(*_extent(found))])
                        draft.applied[at] = found._replace(people=bearers)
            self._look(drafts, range(len(drafts)), roster)

    def _second_look(self, draft: _Draft, redacted: RedactedText) -> bool:
        """Add what rules and roster find in the redacted text; say whether that was anything."""
        again = self._core.find(redacted.text)
        mentions = self._roster.find(mask_placeholders(fold_forms(redacted.text)))
        again += [mention.finding for mention in mentions if mention.finding.band == "applied"]
        back = _way_back(draft, redacted)
        return _add(
            draft,
            (
                Found(
                    finding._replace(start=back(finding.start), end=back(finding.end - 1) + 1),
                    version=self._core.version,
                )
                for finding in again
            ),
        )

    def _render(self, drafts: Sequence[_Draft], present: Collection[str]) -> list[RedactedText]:
        named = {found.people[0] for draft in drafts for found in draft.applied if len(found.people) == 1}
        numbering = Numbering(self._roster, (present, named))
        return [self._render_one(draft, numbering) for draft in drafts]

    def _render_one(self, draft: _Draft, numbering: Numbering) -> RedactedText:
        raw = draft.raw
        pieces: list[str] = []
        spans: list[RedactedSpan] = []
        at = length = 0
        draft.applied.sort()
        for found in sorted([*draft.applied, *_outside(draft.suggested, draft.applied)]):
            finding = found.finding
            length += finding.start - at
            pieces.append(raw[at : finding.start])
            value = raw[finding.start : finding.end]
            written = value
            if finding.band == "applied":
                written = write_placeholder(finding.type, numbering.number(found, value))
            spans.append(
                RedactedSpan(
                    start=length,
                    end=length + len(written),
                    type=finding.type,
                    rule=finding.rule,
                    version=found.version,
                    band=finding.band,
                    value_hmac=self._remember(found, value),
                )
            )
            pieces.append(written)
            length += len(written)
            at = finding.end
        pieces.append(raw[at:])
        text = "".join(pieces)
        _assert_faithful(raw, draft.applied, text)
        return RedactedText(text=text, spans=tuple(spans), raw_hmac=self._key.hmac(raw))

    def _remember(self, found: Found, text: str) -> str | None:
        kind = found.finding.type
        if found.finding.band != "applied" or kind not in _REMEMBERED:
            return None
        if found.value is not None:
            return self._key.hmac(same_value("EMAIL", found.value) if kind == "EMAIL" else found.value)
        return self._key.hmac(same_value(_REMEMBERED[kind], text))


def _extent(found: Found) -> tuple[int, int]:
    return found.finding.start, found.finding.end


def _add_mentions(draft: _Draft, roster: Roster) -> None:
    masked = mask_spans(fold_forms(draft.raw), [_extent(found) for found in draft.applied])
    _add(draft, (Found(mention.finding, mention.people, version=roster.version) for mention in roster.find(masked)))


def _add(draft: _Draft, new: Iterable[Found]) -> bool:
    """Add what is new in findings, and say whether anything that goes is."""
    listed = list(new)
    applied = list(_outside([found for found in listed if found.finding.band == "applied"], draft.applied))
    draft.applied.extend(applied)
    draft.suggested.extend(found for found in listed if found.finding.band != "applied")
    return bool(applied)


def _outside(findings: Iterable[Found], taken: Iterable[Found]) -> Iterator[Found]:
    """Yield the pieces of findings that neither `taken` nor an earlier one covers, in order."""
    extents = sorted(_extent(found) for found in taken)
    starts = [start for start, _ in extents]
    at = 0
    for found in sorted(findings):
        begin, stop = _extent(found)
        begin = max(begin, at)
        place = max(bisect_right(starts, begin) - 1, 0)
        while place < len(extents) and extents[place][0] < stop:
            start, end = extents[place]
            if begin < start:
                yield found._replace(finding=found.finding._replace(start=begin, end=start))
            begin = max(begin, end)
            place += 1
        if begin < stop:
            yield found._replace(finding=found.finding._replace(start=begin, end=stop))
        at = max(at, stop)


def _mentioned(texts: Sequence[RawText], roster: Roster) -> list[Person]:
    """Return people whom the markup names and the roster lacks, by the labels they have in the text."""
    labels: dict[str, list[str]] = {}
    for text in texts:
        for mark in text.marks:
            if mark.kind == "user" and mark.value and roster.person(mark.value) is None:
                label = text.text[slice(*mark.span)].strip("<>@ ").rpartition("|")[2]
                if label and label != mark.value:
                    labels.setdefault(mark.value, []).append(label)
    return [Person(named, tuple(names)) for named, names in labels.items()]


def _way_back(draft: _Draft, redacted: RedactedText) -> "_WayBack":
    applied = [span for span in redacted.spans if span.band == "applied"]
    return _WayBack(
        [span.start for span in applied], [span.end for span in applied], [_extent(found) for found in draft.applied]
    )


class _WayBack(NamedTuple):
    """Where characters of a redacted text stand in the raw one."""

    starts: list[int]
    ends: list[int]
    raw: list[tuple[int, int]]

    def __call__(self, place: int) -> int:
        at = bisect_right(self.starts, place) - 1
        if at < 0:
            return place
        if place < self.ends[at]:
            return self.raw[at][0]
        return self.raw[at][1] + place - self.ends[at]


def _assert_faithful(raw: str, applied: Sequence[Found], text: str) -> None:
    """Refuse a text in which anything but the spans changed: a fault of ours that must not be stored."""
    if any(found.finding.type not in PRIORITY for found in applied) or list_faults(text):
        raise RefusedError("a redacted text is not well formed", hint="please report this")
    if not is_only_redacted(raw, [Span(*_extent(found)) for found in applied], text):
        raise RefusedError(
            "a redacted text differs from its source outside what was redacted", hint="please report this"
        )
