"""Addresses that only lead to another one."""

import pytest

from findback.text.wrappers import unwrap_link

INNER = "https://kb.example.org/a"
ENCODED = "https%3A%2F%2Fkb.example.org%2Fa"


@pytest.mark.parametrize(
    "url",
    [
        f"https://eu1.safelinks.protection.outlook.com/?url={ENCODED}&data=1",
        f"https://slack-redir.net/link?url={ENCODED}",
        f"https://www.google.com/url?sa=t&q={INNER}",
        f"https://google.co.uk/url?sa=t&url={INNER}",
        f"https://www.google.de/url?q={INNER}",
        "https://urldefense.com/v3/__https:/kb.example.org/a__;!!AbC$",
        "https://urldefense.proofpoint.com/v2/url?u=https-3A__kb.example.org_a&d=Dw",
        f"https://www.google.com/url?q=https%3A%2F%2Fslack-redir.net%2Flink%3Furl%3D{ENCODED.replace('%', '%25')}",
        INNER,
    ],
)
def test_wrapped_addresses_are_unwrapped(url):
    """What a mail filter, a chat program or a search engine wrapped is the page itself, one inside the other too."""
    assert unwrap_link(url) == INNER


def test_the_inner_address_may_be_written_in_capitals():
    """Schemes have no case."""
    assert unwrap_link("https://slack-redir.net/link?url=HTTPS%3A%2F%2Fkb.example.org") == "HTTPS://kb.example.org"


@pytest.mark.parametrize(
    "url",
    [
        "https://www.google.com/search?q=https://kb.example.org/a",
        f"https://google.com.evil.example.org/url?q={INNER}",
        f"https://notgoogle.com/url?q={INNER}",
        f"https://slack-redir.net.example.org/link?url={INNER}",
        "https://www.google.com/url?q=vpn",
        "https://slack-redir.net/link?url=javascript:alert(1)",
        "https://kb.example.org/?url=https://other.example.org",
        "https://slack-redir.net/link?" + "&" * 100,
        "https://[broken",
    ],
)
def test_other_addresses_stay(url):
    """A page of another service that takes an address, or an address that is broken, leads nowhere else."""
    assert unwrap_link(url) == url
