"""What no browser sends: forms with fields of every kind, repeated, broken, and in encodings of their own."""

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, get_args
from urllib.parse import quote

from fastapi import FastAPI, params
from fastapi.routing import APIRoute
from hypothesis import strategies as st
from pydantic import BaseModel

ODD = (
    "", "0", "1", "-1", "--5", "2147483648", "99999999999999999999999", "1e9", "NaN", "true", "yes", "none", "\x00",
    "é", "⟦PERSON_1⟧", "\u202e", "line", "query", "title", "some", "look", "release", "search", "keep", "label",
    "submit", "reject", "later", "undo", "skip", "add", "redact", "keep-everywhere", "left", "grade-3", "wording-",
    "howto/vpn.md", "also-right", "SECRET", "lead", "x" * 5_000, "{{7*7}}", "2026-03-02T09:00:00", "0001-01-01",
)  # fmt: skip
BROKEN = ("%ED%A0%80", "%00", "%", "%zz", "%FF%FE", "%u0041", "+++", "a%0Ab%0D", "%F4%90%80%80", "\\ud800")
"""Lone surrogates, NULs and other bytes that are no text, as they stand in a body."""
TYPES = (
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded; charset=utf-16",
    "multipart/form-data; boundary=xx",
    "multipart/form-data; boundary=xx; charset=unicode_escape",
    "multipart/form-data; boundary=xx; charset=idna",
    "multipart/form-data",
    "application/json",
    "text/plain",
    "",
)


class Route(NamedTuple):
    """What a route takes."""

    name: str
    method: str
    path: str
    form: tuple[str, ...]
    query: tuple[str, ...]


def routes_of(app: FastAPI) -> list[Route]:
    """Return every route of the pages with the fields it reads."""
    return sorted(_read(route) for route in _walk(app.router.routes))


def _walk(routes: Sequence[Any]) -> Iterator[APIRoute]:
    for route in routes:
        if isinstance(route, APIRoute):
            yield route
        elif inner := getattr(route, "original_router", None) or getattr(route, "router", None):
            yield from _walk(inner.routes)


def _read(route: APIRoute) -> Route:
    form: list[str] = []
    query: list[str] = []
    for name, parameter in inspect.signature(route.endpoint).parameters.items():
        kind, *marks = get_args(parameter.annotation) or (parameter.annotation,)
        fields = list(kind.model_fields) if isinstance(kind, type) and issubclass(kind, BaseModel) else [name]
        if any(isinstance(mark, params.Form) for mark in marks):
            form += fields
        elif any(isinstance(mark, params.Query) for mark in marks) or kind in (str, int):
            query += [one for one in fields if f"{{{one}" not in route.path]
    method = next(one for one in sorted(route.methods) if one != "HEAD")
    return Route(route.name, method, route.path, tuple(form), tuple(query))


def values(known: Sequence[str]) -> st.SearchStrategy[str]:
    """Return values as they stand in an address or a body."""
    plain = st.one_of(st.sampled_from([*known, *ODD]), st.text(st.characters(codec="utf-8"), max_size=40))
    return st.one_of(plain.map(lambda one: quote(one, safe="")), st.sampled_from(BROKEN))


def pairs(names: Sequence[str], known: Sequence[str]) -> st.SearchStrategy[str]:
    """Return fields of an address or a body: most of those a route reads, some twice, now and then one more."""
    every = st.sampled_from([*names, *names, "do", "csrf", "unknown", "key", "%00"]) if names else st.just("unknown")
    pair = st.tuples(every, values(known)).map("=".join)
    return st.lists(pair, max_size=len(names) + 3).map("&".join)


def paths(path: str, known: Sequence[str]) -> st.SearchStrategy[str]:
    """Return the path of a route with what stands in braces filled in."""
    slots = re.findall(r"\{[^}]*\}", path)

    def fill(found: list[str]) -> str:
        filled = path
        for slot, one in zip(slots, found, strict=True):
            filled = filled.replace(slot, one.replace("/", "%2F") or "x", 1)
        return filled

    return st.lists(values(known), min_size=len(slots), max_size=len(slots)).map(fill)


def multipart(body: str) -> bytes:
    """Return fields as a browser sends them with files."""
    parts = [
        f'--xx\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, _, value in (one.partition("=") for one in body.split("&"))
    ]
    return ("".join(parts) + "--xx--\r\n").encode()


def models_of(app: FastAPI) -> list[type[BaseModel]]:
    """Return the records that routes read from forms, addresses and bodies."""
    found: list[type[BaseModel]] = []
    for route in _walk(app.router.routes):
        for parameter in inspect.signature(route.endpoint).parameters.values():
            kind = (get_args(parameter.annotation) or (parameter.annotation,))[0]
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                found.append(kind)
    return found
