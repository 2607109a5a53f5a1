"""Move proposed terms into the glossary, or have them never proposed again: a person decides."""

from collections.abc import Sequence
from datetime import date
from typing import Literal

from findback.errors import RefusedError, UsageError
from findback.evalset.glossary import GLOSSARY, add_terms
from findback.model.glossary import Accepted, Proposal, Proposals, Term
from findback.model.record import Request
from findback.privacy.core import CoreRedactor
from findback.steps.glossary_check import TermCheck
from findback.steps.glossary_kept import keep_proposals, load_proposals, pair_of, refuse_terms
from findback.steps.kept import now
from findback.text.words import fold
from findback.workspace import Workspace

ARROW = "=>"


class AcceptRequest(Request):
    """Accept proposed terms into the glossary, or refuse them."""

    terms: tuple[str, ...] = ()
    """Each a number of the newest proposals, the words looked for, or both sides as `words => added words`."""
    refuse: tuple[str, ...] = ()
    """Terms never to be proposed again, named the same ways."""
    role: Literal["lead", "reviewer"] = "lead"
    """Role of who decides; no name is written down."""


def accept(workspace: Workspace, request: AcceptRequest, *, on: date | None = None) -> Accepted:
    """Write accepted terms into `glossary.toml`, with their evidence, by which role and when.

    Args:
        workspace: Where glossary and proposals are.
        request: Which terms.
        on: The day; today when None.

    Raises:
        UsageError: If nothing is named, or a name means nothing that is proposed.
        MissingError: If nothing has been proposed yet.
        RefusedError: If the proposals come from questions that were never released, or a term may not be published.
        DataError: If the glossary has faults.
        StorageError: If the disk refuses.
    """
    if not (request.terms or request.refuse):
        raise UsageError("say which terms", hint="findback glossary accept 1 4: numbers of the newest proposals")
    found = load_proposals(workspace)
    chosen, refused = find_named(found, request.terms), find_named(found, request.refuse)
    both = {one.number for one in chosen} & {one.number for one in refused}
    if both:
        raise UsageError(f"a term cannot be accepted and refused: {', '.join(map(str, sorted(both)))}")
    file = workspace.evalset / GLOSSARY
    terms = tuple(_accept(found, one, request.role, on or now().date()) for one in chosen)
    if terms:
        _check(workspace, found, terms)
        add_terms(file, terms, redactor=CoreRedactor(workspace.settings.privacy))
    if refused:
        refuse_terms(workspace, refused)
    gone = {pair_of(one.when, one.add) for one in (*chosen, *refused)}
    left = tuple(one for one in found.proposals if pair_of(one.when, one.add) not in gone)
    keep_proposals(workspace, found.model_copy(update={"proposals": left}))
    return Accepted(file=str(file), terms=terms, refused=len(refused), left=len(left))


def find_named(found: Proposals, named: Sequence[str]) -> list[Proposal]:
    """Return the proposals that names mean, each once, in the order of the list.

    Raises:
        UsageError: If a name means none.
    """
    chosen: dict[int, Proposal] = {}
    for name in named:
        meant = [one for one in found.proposals if _is_meant(one, name.strip())]
        if not meant:
            raise UsageError(
                f"{name[:60]!r} is none of the {len(found.proposals)} proposed terms",
                hint="findback glossary suggest lists them: name numbers, or the words looked for",
            )
        chosen |= {one.number: one for one in meant}
    return [chosen[number] for number in sorted(chosen)]


def _is_meant(one: Proposal, name: str) -> bool:
    if name.isdecimal() and int(name) == one.number:
        return True
    when, arrow, add = name.partition(ARROW)
    if fold(when.strip()) != fold(one.when):
        return False
    return not arrow or fold(add.strip()) == fold(one.add)


def _accept(found: Proposals, one: Proposal, role: Literal["lead", "reviewer"], on: date) -> Term:
    if found.release is None:
        raise RefusedError(
            "these terms come from questions that were never reviewed and released",
            hint="release the questions first; then findback glossary suggest, without --set",
        )
    return Term(
        when=one.when,
        add=one.add,
        kind=one.kind,
        source=one.source,
        model=one.model,
        cases=one.cases,
        clusters=one.clusters,
        release=found.release,
        accepted_by=role,
        accepted_on=on,
    )


def _check(workspace: Workspace, found: Proposals, terms: Sequence[Term]) -> None:
    """Look at the terms again with today's rules and people.

    Raises:
        RefusedError: If one of them may not be published.
    """
    check = TermCheck(workspace, None)
    check.learn(workspace, (text for term in terms for text in (term.when, term.add)))
    numbers = {pair_of(one.when, one.add): one.number for one in found.proposals}
    bad = [
        numbers[pair_of(one.when, one.add)]
        for one in terms
        if not (check.is_clean(one.when) and check.is_clean(one.add))
    ]
    if bad:
        raise RefusedError(
            f"terms {', '.join(map(str, bad))} hold what redaction takes away, or somebody's name",
            hint="accept the others without them",
        )
