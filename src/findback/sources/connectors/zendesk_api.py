"""Zendesk's API: the incremental export of tickets by cursor, the audits of one ticket, and users."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from findback.errors import EngineError
from findback.net import HttpAnswer
from findback.sources.connectors.caller import Caller

PAGE = 100
MOST_PAGES = 1_000
"""Pages of audits of one ticket, or of staff, at most."""
Row = dict[str, Any]


class TicketPage(NamedTuple):
    """A page of the incremental export."""

    tickets: list[Row]
    users: list[Row]
    groups: list[Row]
    cursor: str
    """Where the next page begins."""
    last: bool


class ZendeskApi:
    """Asks Zendesk."""

    def __init__(self, caller: Caller, address: str) -> None:
        self._caller = caller
        self._address = address.rstrip("/")

    def export(self, *, cursor: str | None, start: datetime) -> TicketPage | None:
        """Return the page of the export that begins at a cursor, or else at a moment; None for a cursor it forgot.

        Raises:
            EngineError: If Zendesk refuses, or its page makes no sense.
        """
        place = {"cursor": cursor} if cursor is not None else {"start_time": str(int(start.timestamp()))}
        asked = {**place, "include": "users,groups", "per_page": str(PAGE)}
        answer = self._get("incremental/tickets/cursor.json", asked)
        if cursor is not None and answer.status in (400, 404, 410, 422):
            return None
        page = self._page(answer, "the incremental export")
        after, last = page.get("after_cursor"), page.get("end_of_stream")
        if last is not True and not isinstance(after, str):
            raise EngineError(
                f"{self._caller.name}: a page of the export says neither that it is the last nor what is next"
            )
        following = after if isinstance(after, str) and after else cursor or ""
        if last is not True and following == cursor:
            raise EngineError(f"{self._caller.name}: the export gives the same page again and again")
        return TicketPage(_rows(page, "tickets"), _rows(page, "users"), _rows(page, "groups"), following, last is True)

    def audits(self, ticket: str) -> list[Row] | None:
        """Return everything that was said and changed in a ticket; None where it is not there any more."""
        found: list[Row] = []
        for answer in self._cursor_pages(f"tickets/{ticket}/audits.json", []):
            if answer.status == 404:
                return None
            found += _rows(self._page(answer, "the audits of a ticket"), "audits")
        return found

    def staff(self) -> list[Row] | None:
        """Return agents and admins; None where the token may not list them."""
        found: list[Row] = []
        for answer in self._cursor_pages("users.json", [("role[]", "agent"), ("role[]", "admin")]):
            if answer.status == 403:
                return None
            found += _rows(self._page(answer, "the list of agents"), "users")
        return found

    def users(self, numbers: Sequence[str]) -> list[Row]:
        """Return users by their ids; those who are gone are missing."""
        found: list[Row] = []
        for at in range(0, len(numbers), PAGE):
            answer = self._get("users/show_many.json", {"ids": ",".join(numbers[at : at + PAGE])})
            if answer.status != 403:
                found += _rows(self._page(answer, "users"), "users")
        return found

    def _cursor_pages(self, path: str, asked: list[tuple[str, str]]) -> Iterator[HttpAnswer]:
        after: str | None = None
        for _ in range(MOST_PAGES):
            given = [*asked, ("page[size]", str(PAGE)), *([("page[after]", after)] if after is not None else [])]
            answer = self._caller.call("GET", f"{self._address}/api/v2/{path}?{urlencode(given)}")
            yield answer
            page = self._caller.read(answer) if answer.status == 200 else {}
            meta = page.get("meta")
            following = meta.get("after_cursor") if isinstance(meta, dict) and meta.get("has_more") is True else None
            if not isinstance(following, str) or following == after:
                return
            after = following
        raise EngineError(f"{self._caller.name}: a list never comes to its last page")

    def _get(self, path: str, asked: dict[str, str]) -> HttpAnswer:
        return self._caller.call("GET", f"{self._address}/api/v2/{path}?{urlencode(asked)}")

    def _page(self, answer: HttpAnswer, what: str) -> Row:
        if answer.status in (401, 403):
            raise EngineError(
                f"{self._caller.name}: Zendesk refuses {what}: status {answer.status}",
                hint="check the token and `user`; the incremental export needs an admin's token",
            )
        if answer.status != 200:
            raise EngineError(f"{self._caller.name}: Zendesk answered status {answer.status} to {what}")
        return self._caller.read(answer)


def _rows(page: Row, key: str) -> list[Row]:
    listed = page.get(key)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
