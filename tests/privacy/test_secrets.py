"""Secrets of every listed format are covered whole, and ordinary words are not taken for one."""

import random
import string

import pytest

from findback.privacy.core import CoreRedactor
from findback.privacy.secrets import find_secrets, looks_random

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URL_SAFE = ALNUM + "-_"

# Name, pieces: literal text, or (alphabet, length). Put together at run time, so that no file holds a token.
FORMATS = {
    "aws": ["AK" + "IA", (UPPER, 16)],
    "aws-session": ["AS" + "IA", (UPPER, 16)],
    "github-classic": ["gh" + "p_", (ALNUM, 36)],
    "github-oauth": ["gh" + "o_", (ALNUM, 36)],
    "github-server": ["gh" + "s_", (ALNUM, 36)],
    "github-fine": ["github" + "_pat_", (ALNUM, 22), "_", (ALNUM, 59)],
    "gitlab": ["gl" + "pat-", (URL_SAFE, 20)],
    "gitlab-runner": ["gl" + "rt-", (URL_SAFE, 20)],
    "slack-bot": ["xo" + "xb-", (string.digits, 12), "-", (string.digits, 12), "-", (ALNUM, 24)],
    "slack-user": ["xo" + "xp-", (string.digits, 12), "-", (string.digits, 12), "-", (HEX, 32)],
    "slack-rotated": ["xo" + "xe.xo" + "xp-1-", (ALNUM, 60)],
    "slack-refresh": ["xo" + "xe-1-", (ALNUM, 60)],
    "slack-app": ["xa" + "pp-1-", (UPPER, 11), "-", (string.digits, 13), "-", (HEX, 64)],
    "stripe": ["sk" + "_live_", (ALNUM, 24)],
    "stripe-restricted": ["rk" + "_live_", (ALNUM, 24)],
    "webhook-signing": ["wh" + "sec_", (ALNUM, 32)],
    "openai-project": ["sk" + "-proj-", (ALNUM, 48)],
    "openai": ["sk" + "-", (ALNUM, 48)],
    "anthropic": ["sk" + "-ant-api03-", (URL_SAFE, 90), "AA"],
    "hex-key": ["sk" + "-", (HEX, 32)],
    "google-api": ["AI" + "za", (URL_SAFE, 35)],
    "google-client": ["GOC" + "SPX-", (URL_SAFE, 28)],
    "google-access": ["ya" + "29.", (URL_SAFE, 60)],
    "npm": ["np" + "m_", (ALNUM, 36)],
    "pypi": ["py" + "pi-AgEI", (URL_SAFE, 80)],
    "huggingface": ["h" + "f_", (ALNUM, 34)],
    "sendgrid": ["S" + "G.", (URL_SAFE, 22), ".", (URL_SAFE, 43)],
    "digitalocean": ["do" + "p_v1_", (HEX, 64)],
    "azure-client": [(ALNUM, 3), "8Q" + "~", (ALNUM, 34)],
    "shopify": ["shp" + "at_", (HEX, 32)],
    "square": ["sq" + "0atp-", (URL_SAFE, 22)],
    "twilio": ["S" + "K", (HEX, 32)],
    "mailgun": ["ke" + "y-", (HEX, 32)],
    "mailchimp": [(HEX, 32), "-u" + "s12"],
    "telegram": [(string.digits[1:], 9), ":A" + "A", (URL_SAFE, 33)],
    "discord": ["M", (ALNUM, 23), ".", (URL_SAFE, 6), ".", (URL_SAFE, 38)],
    "databricks": ["da" + "pi", (HEX, 32)],
    "linear": ["lin" + "_api_", (ALNUM, 40)],
    "notion": ["nt" + "n_", (ALNUM, 46)],
    "atlassian": ["ATA" + "TT3", (URL_SAFE, 180), "=", (UPPER, 8)],
    "heroku": ["HR" + "KU-", (URL_SAFE, 60)],
    "new-relic": ["NR" + "AK-", (UPPER, 27)],
    "grafana": ["gl" + "sa_", (ALNUM, 32), "_", (HEX, 8)],
    "postman": ["PM" + "AK-", (HEX, 24), "-", (HEX, 34)],
    "pulumi": ["pu" + "l-", (HEX, 40)],
    "terraform": [(ALNUM, 14), ".atlas" + "v1.", (URL_SAFE, 67)],
    "vault": ["hv" + "s.", (URL_SAFE, 90)],
    "doppler": ["dp" + ".pt.", (ALNUM, 43)],
    "planetscale": ["pscale" + "_tkn_", (URL_SAFE, 43)],
    "supabase": ["sb" + "p_", (HEX, 40)],
    "sentry": ["sntr" + "yu_", (HEX, 64)],
    "figma": ["fig" + "d_", (URL_SAFE, 40)],
    "airtable": ["pa" + "t", (ALNUM, 14), ".", (HEX, 64)],
    "typeform": ["tf" + "p_", (URL_SAFE, 59)],
    "rubygems": ["ruby" + "gems_", (HEX, 48)],
    "docker": ["dckr" + "_pat_", (URL_SAFE, 27)],
    "artifactory": ["AK" + "Cp", (ALNUM, 69)],
    "age": ["AGE-SECRET" + "-KEY-1", (UPPER, 58)],
    "replicate": ["r" + "8_", (ALNUM, 37)],
    "groq": ["gs" + "k_", (ALNUM, 52)],
    "langsmith": ["lsv" + "2_pt_", (HEX, 32), "_", (HEX, 10)],
    "brevo": ["xkey" + "sib-", (HEX, 64), "-", (ALNUM, 16)],
    "circleci": ["CCI" + "PAT_", (ALNUM, 22), "_", (HEX, 40)],
    "netlify": ["nf" + "p_", (ALNUM, 36)],
    "tailscale": ["ts" + "key-auth-", (ALNUM, 17), "-", (ALNUM, 32)],
    "jwt": ["ey" + "J", (URL_SAFE, 33), ".ey" + "J", (URL_SAFE, 70), ".", (URL_SAFE, 43)],
    "jwt-unsigned": ["ey" + "J", (URL_SAFE, 33), ".ey" + "J", (URL_SAFE, 70)],
}


def assemble(pieces: list[str | tuple[str, int]], chance: random.Random) -> str:
    """Return one random secret of a format; it ends in a letter or digit, as text would have it."""
    made = "".join(p if isinstance(p, str) else "".join(chance.choices(p[0], k=p[1])) for p in pieces)
    return made if made[-1].isalnum() else made[:-1] + "7"


@pytest.mark.parametrize("name", FORMATS)
def test_format_is_covered_whole(name: str) -> None:
    """Twenty random tokens of each format vanish entirely, in prose, in quotes and before punctuation."""
    chance = random.Random(name)
    redactor = CoreRedactor()
    for _ in range(20):
        secret = assemble(FORMATS[name], chance)
        assert redactor.redact(f"we get 401 with {secret}").text == "we get 401 with ⟦SECRET_1⟧"
        assert redactor.redact(f'use "{secret}", or not').text == 'use "⟦SECRET_1⟧", or not'
        assert redactor.redact(f"({secret}).").text == "(⟦SECRET_1⟧)."


def test_format_list_has_thirty() -> None:
    """The table above holds at least the thirty formats that are promised."""
    assert len(FORMATS) >= 30


@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        ("password: ", "hunter" + "2", " is wrong"),
        ("DB_PASSWORD=", "Tr0ub4dor" + "&3", ""),
        ('{"client_secret": "', "a1b2c3d4" + "e5f6", '"}'),
        ("my pw is ", "sommer" + "2024", "."),
        ("the api key = ", "9f86d081884c" + "7d65", ", does it expire"),
        ("mysql --password ", "geh" + "eim99", " fails"),
        ("Authorization: Bearer ", "abcDEF123456" + "ghiJKL", ""),
        ("X-Api-Key: ", "12ab34cd" + "56ef", ""),
        ("passphrase: '", "correct horse" + " battery", "'"),
        ("mein Passwort lautet ", "Sommer" + "2024", ""),
        ("the password is ", "Winter" + "2024!", " but the login fails"),
        ("my access token ", "4f9c2d7e8a1b" + "6c3d", " stopped working"),
        ("curl -u ", "admin:s3cr" + "3tPass", " https://example.org"),
        ("pin code: ", "49" + "21", ""),
        ("DefaultEndpointsProtocol=https;AccountKey=", "Zm9vYmFy" * 10 + "==", ";EndpointSuffix=core"),
    ],
)
def test_value_after_a_key_is_covered(before: str, secret: str, after: str) -> None:
    """The value of a secret setting vanishes; the setting's name and the words around stay."""
    assert CoreRedactor().redact(before + secret + after).text == f"{before}⟦SECRET_1⟧{after}"


def test_credentials_in_addresses() -> None:
    """User, password and query tokens of an address vanish; the rest of it stays."""
    redact = CoreRedactor().redact
    password = "s3cr" + "3tpw"
    address = f"postgres://app:{password}@db.example.org:5432/x"
    assert redact(address).text == "postgres://⟦SECRET_1⟧@db.example.org:5432/x"
    token = "abcdef" + "0123456789"
    assert redact(f"https://example.org/d?page=2&token={token}#top").text == (
        "https://example.org/d?page=2&token=⟦SECRET_1⟧#top"
    )
    assert redact("https://example.org/d?token=<token>&key=top").types == ()


def test_private_key_goes_to_its_end() -> None:
    """A private key vanishes to its end line, and to the end of the text where that is cut off."""
    redact = CoreRedactor().redact
    head, tail = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"
    body = "\nMIIEpAIBAAKCAQEA\nabc/def+ghi=\n"
    assert redact(f"it says\n{head}{body}{tail}\nwhy?").text == "it says\n⟦SECRET_1⟧\nwhy?"
    assert redact(f"it says\n{head}{body}and more").text == "it says\n⟦SECRET_1⟧"


def test_aws_secret_beside_its_id() -> None:
    """A 40-character secret key vanishes where the words speak of AWS, and a commit hash never does."""
    redact = CoreRedactor().redact
    secret = "wJalrXUt" + "nFEMI/K7MDENG/bPxRfiCY" + "zzEX4MPLE9"
    assert len(secret) == 40
    assert redact(f"aws says denied for {secret}").types == ("SECRET",)
    assert redact("aws build 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b").types == ()


@pytest.mark.parametrize(
    "text",
    [
        "password: how do I reset it",
        "the token is missing in the header",
        "secret: null, token = None",
        "export TOKEN=$TOKEN and password=${DB_PASSWORD}",
        'os.environ["API_KEY"] or settings.SECRET_KEY',
        "max_tokens=4096 and token_count: 50000",
        "sk-learn-contrib-pipeline and sk_buff_alloc_skb_data",
        "npm_config_registry_is_not_read_from_environment",
        "password=<your-password> or {{password}}",
        "postgres://user:password@localhost/db",
        "the password is not accepted after 3 tries",
        "token authentication_backend_v2 fails",
        "docker run -u 1000:1000 image",
    ],
)
def test_talk_about_secrets_stays(text: str) -> None:
    """Questions about passwords and tokens, templates and variable names are left as they are."""
    assert CoreRedactor().redact(text).text == text


def test_random_looks() -> None:
    """A name without digits does not look random, a mixed token does."""
    assert not looks_random("contrib-pipeline-extension")
    assert looks_random("aB3dE5gH7jK9")


def test_a_random_string_near_a_word_for_keys_is_one() -> None:
    """Where a sentence leads to it a long random string goes, whole; names of things in code stay."""
    luck = random.Random(5)
    letters = string.ascii_letters + string.digits
    found = 0
    for _ in range(200):
        token = "".join(luck.choice(letters) for _ in range(28))
        text = f"Our key starts with {token}, does that help?"
        spans = [text[one.start : one.end] for one in find_secrets(text)]
        assert spans in ([], [token])
        found += bool(spans)
    assert found >= 160
    for name in ("GlobalConfigurationRepository2Impl9", "getUserByIdAndTenantNameV2", "PR2024Q3ReleaseNotesV2Final1"):
        assert not list(find_secrets(f"the keys are in {name} here"))
    digest = "9fceb02d0ae598e95dc970b74767f19372d61af8"
    assert not list(find_secrets(f"cache key for {digest} and pod ingest-worker-7d9f8b6c5-x2k4q"))
