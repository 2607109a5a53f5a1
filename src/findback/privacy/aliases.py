"""Names, addresses and numbers of people as keyed digests: what finds a person again when the export is gone."""

from collections import Counter
from collections.abc import Callable, Iterable

from findback.model.alias import Alias, AliasKind
from findback.model.thread import Person
from findback.privacy.key import same_value
from findback.privacy.name_variants import list_variants

FEWEST_DIGITS = 5
"""A number with fewer is nobody's telephone."""


def digest_aliases(people: Iterable[Person], hmac: Callable[[str], str]) -> dict[str, tuple[Alias, ...]]:
    """Return for the digest of each person's id the digests of everything the source calls them.

    Names come in every way in which redaction looks for them, so that a mention's digest is among them.

    Args:
        people: The people a source lists; programs are left out.
        hmac: Makes the keyed digest of a value.
    """
    called = {person.id: _called(person) for person in people if not person.bot}
    bearers = Counter(value for values in called.values() for value in values)
    digests = {value: hmac(value) for value in bearers}
    return {
        hmac(id_): tuple(Alias(digests[value], kind, bearers[value] > 1) for value, kind in values.items())
        for id_, values in called.items()
    }


def digest_value(value: str, hmac: Callable[[str], str]) -> frozenset[str]:
    """Return the digests under which an address, a number or a name is known, whichever of them a value is."""
    forms = {same_value("PERSON", value)}
    if "@" in value.removeprefix("@"):
        forms = {same_value("EMAIL", value)}
    elif len(number := same_value("PHONE", value)) >= FEWEST_DIGITS and not any(c.isalpha() for c in value):
        forms = {number}
    return frozenset(hmac(form) for form in forms)


def _called(person: Person) -> dict[str, AliasKind]:
    values: dict[str, AliasKind] = {}
    for mail in person.mails:
        values[same_value("EMAIL", mail)] = "mail"
    for phone in person.phones:
        if len(number := same_value("PHONE", phone)) >= FEWEST_DIGITS:
            values.setdefault(number, "phone")
    for name in (
        *(same_value("PERSON", name) for name in person.names),
        *(" ".join(variant.words) for variant in list_variants(person)),
    ):
        values.setdefault(name, "name")
    values.pop("", None)
    return values
