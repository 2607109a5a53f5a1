"""People are erased and kept out by anything they are called, when the export that says so is gone."""

from datetime import timedelta

from sqlalchemy import select

from builders.candidates import NOON, candidate, digest, line, searched, text
from findback.model.alias import Alias
from findback.workbench.aliases import Called
from findback.workbench.erasure import Erased
from findback.workbench.intake import PutCounts
from findback.workbench.store import Workbench
from findback.workbench.tables import ALIASES

CHAT = {
    digest("ana"): (
        Alias(digest("ana@example.org"), "mail", shared=False),
        Alias(digest("ana roth"), "name", shared=False),
        Alias(digest("roth"), "name", shared=True),
    ),
    digest("bo"): (Alias(digest("bo roth"), "name", shared=False), Alias(digest("roth"), "name", shared=True)),
    digest("di"): (Alias(digest("di ek"), "name", shared=False),),
}
TICKETS = {
    digest("77"): (
        Alias(digest("ana@example.org"), "mail", shared=False),
        Alias(digest("ana roth"), "name", shared=False),
    ),
    digest("78"): (Alias(digest("di ek"), "name", shared=False),),
}


def called(*values: str) -> list[Called]:
    return [Called(frozenset({digest(value)}), frozenset({digest(value)})) for value in values]


def known(workbench: Workbench) -> set[str]:
    """Return of whom names are kept."""
    with workbench._database.reading() as connection:
        return set(connection.scalars(select(ALIASES.c.person)))


def keys(workbench: Workbench) -> set[str]:
    return {stored.candidate.key for stored in workbench.list_candidates()}


def test_an_address_reaches_everything_a_person_wrote_and_where_they_are_named(workbench: Workbench) -> None:
    """By an address that stands in no text: questions, replies, mentions by name, and what other sources call them."""
    asked = candidate("asked", "ana")
    answered = candidate("answered", "bo", [line("r", "ana", "it is here", 1)], query=text("ask {}", "ana roth"))
    workbench.put([asked, answered], now=NOON, people=CHAT)
    workbench.put([searched("ticket", "77"), searched("other", "78")], now=NOON, people=TICKETS)
    who = workbench.identify(called("ana@example.org"))
    assert (who.ids, who.doubtful) == ({digest("ana"), digest("77")}, ())
    assert workbench.purge(person_hmac=who, now=NOON) == Erased(candidates=2, lines=1, mentions=2)
    assert keys(workbench) == {digest("answered"), digest("other")}
    left = workbench.get(digest("answered")).candidate
    assert [one.value_hmac for body in (left.query, *(line.body for line in left.thread)) for one in body.spans] == [
        None,
        None,
    ]
    assert known(workbench) == {digest("bo"), digest("78")}


def test_a_name_that_two_people_share_means_nobody(workbench: Workbench) -> None:
    """Whether they share it within a source or over two; together with an address it means who has both."""
    workbench.put([candidate("a", "ana"), candidate("d", "di")], now=NOON, people=CHAT)
    assert workbench.identify(called("roth")).doubtful == (0,)
    assert workbench.identify(called("ana roth", "roth")).doubtful == ()
    assert workbench.identify(called("di ek")).ids == {digest("di")}
    workbench.put([searched("t", "78"), searched("u", "77")], now=NOON, people=TICKETS)
    assert workbench.identify(called("x", "di ek")).doubtful == (1,)
    # One address in both sources: one person.
    assert workbench.identify(called("ana roth")).ids == {digest("ana"), digest("77")}


def test_a_name_that_comes_to_be_shared_names_nobody_any_more(workbench: Workbench) -> None:
    """A later export lists a second person of that name, of whom nothing is stored."""
    workbench.put([candidate("d", "di")], now=NOON, people=CHAT)
    later = {digest("di"): (Alias(digest("di ek"), "name", shared=True),)}
    workbench.put([candidate("d", "di")], now=NOON, people=later)
    assert workbench.identify(called("di ek")).doubtful == (0,)


def test_an_id_is_never_taken_for_a_name(workbench: Workbench) -> None:
    """Somebody whose id is another's first name is meant by it."""
    people = {digest("ana"): (Alias(digest("bo"), "name", shared=False),), digest("bo"): ()}
    workbench.put([candidate("a", "ana"), candidate("b", "bo")], now=NOON, people=people)
    assert workbench.identify(called("bo")).ids == {digest("bo")}


def test_who_objected_by_an_address_is_kept_out_of_what_comes(workbench: Workbench) -> None:
    """Before anything of theirs was mined, and whatever id a new source gives them; their mentions stay unnamed."""
    workbench.exclude("person", workbench.identify(called("ana@example.org")), now=NOON)
    named = candidate("b", "bo", query=text("ask {} or {}", "ana roth", "di ek"))
    given = [candidate("a", "ana"), named]
    assert workbench.put(given, now=NOON, people=CHAT) == PutCounts(new=1, excluded=1)
    assert workbench.put([searched("t", "77")], now=NOON, people=TICKETS) == PutCounts(excluded=1)
    spans = workbench.get(digest("b")).candidate.query.spans
    assert [one.value_hmac for one in spans] == [None, digest("di ek")]
    assert known(workbench) == {digest("bo"), digest("di")}


def test_who_was_erased_by_a_name_stays_away_without_the_names_of_others(workbench: Workbench) -> None:
    """Their ids and addresses are remembered; a newcomer of the same name is somebody else."""
    workbench.put([candidate("a", "ana")], now=NOON, people=CHAT)
    workbench.purge(person_hmac=workbench.identify(called("ana roth")), now=NOON)
    assert workbench.put([candidate("a2", "ana")], now=NOON) == PutCounts(purged=1)
    assert workbench.put([searched("t", "77")], now=NOON, people=TICKETS) == PutCounts(purged=1)
    newcomer = {digest("new"): (Alias(digest("ana roth"), "name", shared=False),)}
    assert workbench.put([candidate("n", "new")], now=NOON, people=newcomer) == PutCounts(new=1)


def test_names_are_kept_no_longer_than_texts(workbench: Workbench) -> None:
    """Of people nothing is stored of, none; after retention, a purge of the channel or a rejection, none."""
    workbench.put([candidate("a", "ana", container_hmac=digest("c"))], now=NOON, people=CHAT)
    assert known(workbench) == {digest("ana")}
    workbench.purge(container_hmac=digest("c"), now=NOON)
    assert known(workbench) == set()
    workbench.put([candidate("b", "bo", query=text("ask {}", "di ek"))], now=NOON, people=CHAT)
    assert known(workbench) == {digest("bo"), digest("di")}
    workbench.sweep_retention(NOON + timedelta(days=91))
    assert known(workbench) == set()
