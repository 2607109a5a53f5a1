"""How many flags are taken, and what is remembered of whoever sends them."""

from datetime import UTC, datetime, timedelta

import pytest

from findback.model.settings import FlagSettings
from findback.web.flaglimits import FlagLimits, network_of

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def limits(**most: int) -> FlagLimits:
    return FlagLimits(FlagSettings(**most))


def test_an_address_waits_until_its_oldest_flag_is_an_hour_old() -> None:
    """Two an hour: the third waits as long as it says, and being refused does not make it longer."""
    counted = limits(per_address=2)
    assert counted.wait("192.0.2.1", None, NOON) == 0
    assert counted.wait("192.0.2.1", None, NOON + 10 * MINUTE) == 0
    for minute in (20, 30, 40):
        assert counted.wait("192.0.2.1", None, NOON + minute * MINUTE) == (60 - minute) * 60
    assert counted.wait("192.0.2.2", None, NOON + 40 * MINUTE) == 0
    assert counted.wait("192.0.2.1", None, NOON + 60 * MINUTE) == 0
    assert counted.wait("192.0.2.1", None, NOON + 61 * MINUTE) == 9 * 60


def test_what_one_limit_refuses_counts_for_no_other() -> None:
    """An address that has had its share takes nothing of its site's, nor of the total."""
    counted = limits(per_address=1, per_origin=2, total=3)
    assert [counted.wait("192.0.2.1", "https://a", NOON) == 0 for _ in range(9)].count(True) == 1
    assert counted.wait("192.0.2.2", "https://a", NOON) == 0
    assert counted.wait("192.0.2.3", "https://a", NOON) == 3_600
    assert counted.wait("192.0.2.3", "https://b", NOON) == 0
    assert counted.wait("192.0.2.4", "https://c", NOON) == 3_600


def test_a_day_knows_nothing_of_the_one_before() -> None:
    """At midnight UTC addresses are forgotten with the key that made their digests; sites are not."""
    counted = limits(per_address=1, per_origin=2)
    evening = NOON.replace(hour=23, minute=59)
    assert counted.wait("192.0.2.1", "https://a", evening) == 0
    before = {name for kind, name in counted._taken if kind == "address"}
    assert counted.wait("192.0.2.1", "https://a", evening + 2 * MINUTE) == 0
    after = {name for kind, name in counted._taken if kind == "address"}
    assert len(before) == len(after) == 1
    assert before != after
    assert counted.wait("192.0.2.9", "https://a", evening + 2 * MINUTE) > 0


def test_memory_holds_the_last_hour_and_nothing_of_who_was_refused() -> None:
    """A flood from ever other addresses leaves no entry each, and an hour later those taken are gone too."""
    counted = limits(total=2)
    for number in range(100):
        counted.wait(f"192.0.2.{number}", f"https://{number}", NOON)
    assert len(counted._taken) == 5
    counted.wait("192.0.2.200", None, NOON + 61 * MINUTE)
    assert len(counted._taken) == 3


def test_no_address_is_remembered() -> None:
    """What is counted holds digests, and another process makes others of the same address."""
    one, other = limits(), limits()
    for counted in (one, other):
        counted.wait("198.51.100.7", None, NOON)
    assert "198.51" not in repr(vars(one))
    assert set(one._taken) != set(other._taken)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:0:1:ffff::7", "2001:db8:0:1::/64"),
        ("2001:db8:0:1::8", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_a_client_cannot_leave_its_network(address: str, network: str) -> None:
    """IPv4 addresses count each, IPv6 ones by their 64 leading bits, and what is none as it is."""
    assert network_of(address) == network
