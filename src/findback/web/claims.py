"""What the provider says about people who are logged in, asked again while they work."""

import threading
from datetime import timedelta

from starlette.concurrency import run_in_threadpool

from findback.web.oidc import Provider
from findback.web.sessions import Login, end_session, find_session, keep_claims
from findback.web.site import Site
from findback.workbench.tokens import digest_token

AGE = timedelta(minutes=10)
"""How old what the provider said may be."""
MOST = 10_000


class ClaimsReader:
    """Keeps access tokens in memory only; a stopped server sends people through the provider again."""

    def __init__(self, site: Site, provider: Provider) -> None:
        self._site = site
        self._provider = provider
        self._tokens: dict[str, str] = {}
        self._lock = threading.Lock()

    def keep(self, session: str, access: str) -> None:
        """Remember the access token of a session; the oldest go when there are too many."""
        with self._lock:
            self._tokens[digest_token(session)] = access
            while len(self._tokens) > MOST:
                self._tokens.pop(next(iter(self._tokens)))

    async def read_again(self, session: str, login: Login) -> Login | None:
        """Return a login with today's groups; None, and the session over, where the provider no longer knows it."""
        if self._site.now() - login.read_at < AGE:
            return login
        access = self._tokens.get(digest_token(session))
        claims = await self._provider.read_again(login.claims, access) if access else None
        if claims is None:
            with self._lock:
                self._tokens.pop(digest_token(session), None)
            await run_in_threadpool(end_session, self._site, session)
            return None
        await run_in_threadpool(lambda: keep_claims(self._site, session, claims, until=login.until, csrf=login.csrf))
        return await run_in_threadpool(find_session, self._site, session)
