"""Passwords, keys and tokens."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from findback.privacy.finding import Finding
from findback.privacy.wordlists import read_rules, words_of

_VALUE_LIMIT = 512
_LONG = 20
_LEAST = 8
_SHORT = 6
_PIN = 4
_PHRASE = 64
_AWS_REACH = 200

_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-[0-9]:")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: [0-9a-f]{1,128}")
_USERINFO = re.compile(r"://([^\s/?#@:\"'<>]{0,128}):([^\s/@\"'<>\ufffc]{1,256})@")
_LONE_USER = re.compile(r"://([A-Za-z0-9_.~%-]{16,256})@")
_AUTH_HEADER = re.compile(r"\b(?:bearer|basic|apikey|digest)\s{1,3}([A-Za-z0-9+/_.~=-]{12,4096})", re.IGNORECASE)
_LOGIN = re.compile(r"(?<!\S)(?:-u|--user)[\s=]{1,3}[\"']?([^\s:\"'<>$]{1,64}):([^\s\"'\ufffc]{3,128})")
_AWS_CUE = re.compile(r"(?:AKIA|ASIA)[A-Z0-9]{16}|aws", re.IGNORECASE)
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_IN_ADDRESS = re.compile(r"[?&][\w-]*$")
_KEY_REACH = 40
_NEAR = re.compile(
    r"\b(?:keys?|tokens?|secrets?|credentials?|passphrases?|passwords?)\b[^\n\ufffc]{0,40}?"
    r"(?<![A-Za-z0-9_+=-])([A-Za-z0-9_+=-]{20,512})(?![A-Za-z0-9/])",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"[<{$%\[(*]|\.{3}|…|xxx|process\.env|os\.environ|getenv|https?://|/", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][A-Za-z_]*(?:[.\-][A-Za-z_]+)*\(?\)?")
_NUMBERED = re.compile(r"v?\d+(?:\.\d+)+")
_CALL = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+[(\[]|[a-z_]+\(")
# An exclamation mark ends more passwords than questions.
_TRAILING = ".,;:?)]}>"


class SecretRule(NamedTuple):
    """One token format."""

    id: str
    keywords: tuple[str, ...]
    pattern: re.Pattern[str]
    tail: re.Pattern[str]
    random: bool


def find_secrets(text: str) -> Iterator[Finding]:
    """Yield private keys, tokens of known formats, values of secret settings and credentials in addresses."""
    yield from _find_private_keys(text)
    yield from _find_tokens(text)
    yield from _find_values(text)
    yield from _find_near_words(text)
    yield from _find_logins(text)
    yield from _find_in_addresses(text)
    yield from _find_aws_secrets(text)


def looks_random(token: str) -> bool:
    """Say whether a token has the digits and the spread of letters that words and names lack.

    >>> looks_random("learn-contrib-pipeline"), looks_random("a9f3kQ82mZx01LbT")
    (False, True)
    """
    digits = sum(c.isdigit() for c in token)
    mixed = any(c.islower() for c in token) and any(c.isupper() for c in token)
    return digits >= 4 or (digits >= 1 and mixed and entropy(token) >= 3)


def entropy(token: str) -> float:
    """Return the Shannon entropy of a token's characters, in bits a character; 0 for an empty one.

    >>> entropy("aabb")
    1.0
    """
    counts = Counter(token).values()
    return -sum(count / len(token) * math.log2(count / len(token)) for count in counts)


@lru_cache(maxsize=1)
def _rules() -> tuple[SecretRule, ...]:
    table = read_rules("secrets.toml")
    default = table["defaults"]["tail"]
    made = []
    for rule in table["rule"]:
        # A token starts where no letter or digit stands before it, so each is tried once.
        start = "" if rule.get("glued") else r"(?<![A-Za-z0-9])"
        tail = re.compile(f"[{rule.get('tail', default)}]*")
        made.append(
            SecretRule(
                rule["id"],
                tuple(rule["keyword"]),
                re.compile(start + rule["pattern"]),
                tail,
                rule.get("random", False),
            )
        )
    return tuple(made)


@lru_cache(maxsize=1)
def _keywords() -> tuple[tuple[str, int], ...]:
    """Return each keyword with the place of its rule."""
    return tuple((keyword, at) for at, rule in enumerate(_rules()) for keyword in rule.keywords)


def _find_private_keys(text: str) -> Iterator[Finding]:
    if "PRIVATE KEY" not in text and "PuTTY" not in text:
        return
    at = 0
    while start := _PEM.search(text, at):
        end = _PEM_END.search(text, start.end())
        at = end.end() if end else len(text)
        yield Finding(start.start(), at, "SECRET", "secret.private-key")


def _find_tokens(text: str) -> Iterator[Finding]:
    rules = _rules()
    for place in sorted({place for keyword, place in _keywords() if keyword in text}):
        rule = rules[place]
        at = 0
        while match := rule.pattern.search(text, at):
            tail = rule.tail.match(text, match.end())
            at = tail.end() if tail else match.end()
            end = at
            while end > match.end() and text[end - 1] in ".,-/":
                end -= 1
            if not rule.random or looks_random(text[match.start() : end]):
                yield Finding(match.start(), end, "SECRET", f"secret.{rule.id}")


@lru_cache(maxsize=1)
def _value_pattern() -> re.Pattern[str]:
    keys = sorted(words_of("secrets", "keys"), key=len, reverse=True)
    names = "|".join(re.escape(key).replace(r"\ ", r"[\s_-]?") for key in keys)
    joins = "|".join(sorted(words_of("secrets", "joins")))
    between = rf"""["'`\]]{{0,2}}(?:\s{{0,3}}(?::=|=>|==|[:=→：])\s{{0,3}}|\s{{1,3}}(?:{joins})\s{{1,3}}:?)"""
    option = r"(?<=--)(?P<option>[a-z-]{0,20}?(?:" + names + r"))(?:\s{1,3}|=)"
    many = f"{{4,{_VALUE_LIMIT}}}"
    value = rf"""(?:["'`](?P<quoted>[^"'`\n\ufffc]{many})["'`]|(?P<bare>[^\s"'`<>,;\ufffc]{many}))"""
    # Keys of settings may have a name before them (DB_PASSWORD), never letters after them (tokenizer).
    return re.compile(rf"(?:{option}|(?P<key>{names})(?![A-Za-z0-9]){between}){value}", re.IGNORECASE)


@lru_cache(maxsize=1)
def _key_stems() -> tuple[str, ...]:
    """Return the beginnings of all keys, none of which holds another."""
    stems = sorted({re.split(r"[\s_-]", key.casefold())[0] for key in words_of("secrets", "keys")}, key=len)
    return tuple(stem for at, stem in enumerate(stems) if not any(shorter in stem for shorter in stems[:at]))


def _find_values(text: str) -> Iterator[Finding]:
    lowered = text.casefold()
    if not any(stem in lowered for stem in _key_stems()):
        return
    for match in _value_pattern().finditer(text):
        quoted = match["quoted"] is not None
        start, end = match.span("quoted" if quoted else "bare")
        if not quoted:
            end = start + len(_cut_value(text[start:end], text[max(match.start() - _KEY_REACH, 0) : match.start()]))
        key = re.sub(r"[\s_-]", " ", (match["key"] or match["option"]).lower())
        if _is_secret_value(text[start:end], key, quoted=quoted):
            yield Finding(start, end, "SECRET", "secret.value")
    for match in _spaced_pattern().finditer(text):
        value = match[1].rstrip("-_=")
        if any(c.isalpha() for c in value) and looks_random(value):
            yield Finding(match.start(1), match.start(1) + len(value), "SECRET", "secret.value")


def _find_near_words(text: str) -> Iterator[Finding]:
    """Yield what only looks random where a sentence about keys leads to it: "our key starts with …"."""
    for match in _NEAR.finditer(text):
        token = match[1].strip("-_=")
        kinds = [0 if c.isdigit() else 1 if c.islower() else 2 if c.isupper() else 3 for c in token]
        # Names keep to one kind of letter for a whole word; random ones change at every other character.
        changes = sum(one != other for one, other in pairwise(kinds))
        numbers = len(re.findall("[0-9]+", token))
        if {1, 2} <= set(kinds) and numbers >= 2 and changes >= 0.45 * len(token):
            start = match.start(1) + match[1].index(token)
            yield Finding(start, start + len(token), "SECRET", "secret.near")


def _cut_value(value: str, before: str) -> str:
    """Return a value without the punctuation of the sentence, or the rest of the address, around it."""
    if _IN_ADDRESS.search(before):
        value = re.split(r"[&#)\]]", value, maxsplit=1)[0]
    return value.rstrip(_TRAILING)


def _find_logins(text: str) -> Iterator[Finding]:
    for match in _LOGIN.finditer(text):
        # `-u 1000:1000` names a user and a group.
        if not (_TEMPLATE.match(match[2]) or match[2].isdigit() or match[1] == match[2]):
            yield Finding(match.start(1), match.end(2), "SECRET", "secret.login")
    for match in _AUTH_HEADER.finditer(text):
        value = match[1].rstrip(".")
        if looks_random(value) or (len(value) >= _LONG and any(c.isdigit() for c in value)):
            yield Finding(match.start(1), match.start(1) + len(value), "SECRET", "secret.header")


@lru_cache(maxsize=1)
def _spaced_pattern() -> re.Pattern[str]:
    """Return the pattern of a key with nothing but a blank before its value, which must then look random."""
    keys = sorted(words_of("secrets", "keys"), key=len, reverse=True)
    names = "|".join(re.escape(key).replace(r"\ ", r"[\s_-]?") for key in keys)
    return re.compile(rf"(?:{names})[\s\"'`(]{{1,3}}([A-Za-z0-9_+/=-]{{16,512}})(?![A-Za-z0-9.])", re.IGNORECASE)


def _is_secret_value(value: str, key: str, *, quoted: bool) -> bool:
    if value.lower() in words_of("secrets", "stand_ins") or _TEMPLATE.match(value) or _CALL.match(value):
        return False
    is_password = any(key.endswith(word) for word in words_of("secrets", "password_keys"))
    if any(c.isspace() for c in value):
        # Only quotation marks tell a passphrase from a sentence.
        return quoted and is_password and _SHORT <= len(value) <= _PHRASE
    if is_password:
        return _is_password(value)
    digits = sum(c.isdigit() for c in value)
    if digits == len(value) or _NUMBERED.fullmatch(value):
        return False
    return len(value) >= _LEAST if digits else _is_mixed_word(value)


def _is_password(value: str) -> bool:
    if value.isdigit():
        return len(value) >= _PIN
    if any(c.isdigit() for c in value):
        return len(value) >= _SHORT
    if _NAME.fullmatch(value):
        return _is_mixed_word(value)
    return len(value) >= _SHORT and any(not c.isalnum() and c not in "._-/:" for c in value)


def _is_mixed_word(value: str) -> bool:
    """Say whether a word without digits mixes cases as no name of a variable does."""
    if len(value) < _LONG or not value.isalpha():
        return False
    return sum(a.islower() != b.islower() for a, b in pairwise(value)) >= len(value) // 4


def _find_in_addresses(text: str) -> Iterator[Finding]:
    if "://" in text:
        for match in _USERINFO.finditer(text):
            if match[2].lower() not in words_of("secrets", "stand_ins") and not _TEMPLATE.match(match[2]):
                yield Finding(match.start(1), match.end(2), "SECRET", "secret.address")
        for match in _LONE_USER.finditer(text):
            if looks_random(match[1]):
                yield Finding(match.start(1), match.end(1), "SECRET", "secret.address")
    if "=" in text and ("?" in text or "&" in text or "#" in text):
        for match in _query_pattern().finditer(text):
            value = match[1].rstrip(_TRAILING)
            if not _TEMPLATE.match(value) and (len(value) >= 16 or any(c.isdigit() for c in value)):
                yield Finding(match.start(1), match.start(1) + len(value), "SECRET", "secret.query")


@lru_cache(maxsize=1)
def _query_pattern() -> re.Pattern[str]:
    keys = sorted(words_of("secrets", "url_keys"), key=len, reverse=True)
    names = "|".join(re.escape(key) for key in keys)
    return re.compile(rf"(?:[?&#]|&amp;)(?:{names})=([^\s&#\"'<>|)\]\ufffc]{{6,4096}})", re.IGNORECASE)


def _find_aws_secrets(text: str) -> Iterator[Finding]:
    if len(text) < 40 or not _AWS_CUE.search(text):
        return
    for match in _AWS_SECRET.finditer(text):
        token = match[0]
        mixed = any(c.islower() for c in token) and any(c.isupper() for c in token)
        near = _AWS_CUE.search(text, max(match.start() - _AWS_REACH, 0), match.end() + _AWS_REACH)
        if mixed and any(c.isdigit() for c in token) and near:
            yield Finding(match.start(), match.end(), "SECRET", "secret.aws-secret-key")
