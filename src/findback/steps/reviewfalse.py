"""What reviewers gave back, told again by the workbench's key: the value itself is nowhere."""

from collections.abc import Callable, Collection
from functools import cache

from findback.model.candidate import Candidate
from findback.model.review import Review
from findback.privacy.finding import Finding
from findback.privacy.key import Key, same_value
from findback.steps.reviewcheck import IsFalsePositive
from findback.steps.reviewspans import texts_of
from findback.workbench.false_positives import NEVER, FalsePositive, FalsePositiveRule


def value_hmac(key: Key, kind: str, value: str) -> str:
    """Return the digest under which a value of a type is given back."""
    return key.hmac(f"false positive\0{kind}\0{same_value(kind, value)}")


def false_positive_rule(key: Key) -> FalsePositiveRule:
    """Return what says which values a review gives back."""

    def rule(candidate: Candidate, review: Review) -> list[FalsePositive]:
        texts = texts_of(candidate)
        given = []
        for one in review.spans:
            text = texts.get((one.place, one.position))
            if one.action != "restore" or one.original is None or text is None:
                continue
            rules = [span.rule for span in text.spans if (span.start, span.end) == (one.start, one.end)]
            kind = next((s.type for s in text.spans if (s.start, s.end) == (one.start, one.end)), one.type)
            given.append(FalsePositive(value_hmac(key, kind, one.original), kind, rules[0] if rules else "unknown"))
        return given

    return rule


def is_false_positive(
    key: Key, known: Collection[FalsePositive] | Callable[[], Collection[FalsePositive]], review: Review | None = None
) -> IsFalsePositive:
    """Return what says whether a finding is one that reviewers gave back; never for secrets and checksummed ids.

    Args:
        key: The workbench's key.
        known: What submitted reviews gave back, or what reads it: only asked where something is found.
        review: A review on its way, whose own count too.
    """

    @cache
    def given_back() -> frozenset[str]:
        hmacs = {one.value_hmac for one in (known() if callable(known) else known) if one.type not in NEVER}
        if review is not None:
            hmacs |= {
                value_hmac(key, one.type, one.original)
                for one in review.spans
                if one.action == "restore" and one.original is not None and one.type not in NEVER
            }
        return frozenset(hmacs)

    def is_false(finding: Finding, value: str) -> bool:
        return finding.type not in NEVER and value_hmac(key, finding.type, value) in given_back()

    return is_false
