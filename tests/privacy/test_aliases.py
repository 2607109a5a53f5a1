"""What people are called is kept as digests that find them again."""

from findback.model.alias import Alias
from findback.model.thread import Person
from findback.privacy.aliases import digest_aliases, digest_value
from findback.privacy.key import Key

KEY = Key(b"k" * 32)
PEOPLE = [
    Person("U8", ("Noor Sørvik", "noor.s"), ("N@example.org",), ("+47 22 334455",)),
    Person("U9", ("Noor Brandão",)),
    Person("B1", ("Noor Bot",), bot=True),
]


def test_every_way_to_write_a_person_is_a_digest() -> None:
    """Address, number, full name, handle and name parts are there, folded; nothing of them can be read."""
    of_one = {alias.hmac: alias for alias in digest_aliases(PEOPLE, KEY.hmac)[KEY.hmac("U8")]}
    for value in ("noor sorvik", "sorvik", "noor s", "sorvik noor"):
        assert of_one[KEY.hmac(value)] == Alias(KEY.hmac(value), "name", shared=False)
    assert of_one[KEY.hmac("n@example.org")].kind == "mail"
    assert of_one[KEY.hmac("4722334455")].kind == "phone"
    assert all(len(digest) == 64 for digest in of_one)


def test_what_two_people_are_called_is_shared() -> None:
    """A first name of two people names neither; programs bear no names."""
    digests = digest_aliases(PEOPLE, KEY.hmac)
    assert set(digests) == {KEY.hmac("U8"), KEY.hmac("U9")}
    shared = [{alias.hmac for alias in aliases if alias.shared} for aliases in digests.values()]
    assert shared == [{KEY.hmac("noor")}, {KEY.hmac("noor")}]


def test_a_value_is_looked_up_as_what_it_is() -> None:
    """An address by its letters, a number by its digits, anything else as a name."""
    assert digest_value("N@Example.org", KEY.hmac) == {KEY.hmac("n@example.org")}
    assert digest_value("0047 22-334455", KEY.hmac) == {KEY.hmac("4722334455")}
    for name in ("@noor.s", "Noor S", "NOOR  S."):
        assert digest_value(name, KEY.hmac) == {KEY.hmac("noor s")}
