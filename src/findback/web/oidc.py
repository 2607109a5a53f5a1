"""Log-in at a team's provider by OpenID Connect; Authlib checks state, nonce, PKCE and the signed token."""

from typing import Any, NamedTuple

from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.starlette_client import OAuth
from fastapi import Request
from joserfc.errors import JoseError
from starlette.responses import RedirectResponse

from findback.errors import RefusedError, SettingsError
from findback.model.settings import OidcSettings, RoleName, ServeSettings
from findback.web.access import ROLES
from findback.web.site import Site

MOST_GROUPS = 500
LONGEST_NAME = 200


class Claims(NamedTuple):
    """What the provider says about a person."""

    subject: str
    """Who they are for good: issuer and subject."""
    name: str | None
    groups: tuple[str, ...]


class Provider:
    """The login provider of one site."""

    def __init__(self, site: Site) -> None:
        settings = site.serve.oidc
        if settings is None:
            raise SettingsError("[serve.oidc] is missing", hint="a page for a team needs a login")
        self._settings = settings
        self._back = f"{site.base_url}/login/back"
        oauth = OAuth()
        oauth.register(
            "provider",
            client_id=settings.client_id,
            client_secret=_secret(settings, site),
            server_metadata_url=f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256", "timeout": 15},
        )
        self._client: Any = oauth.create_client("provider")

    async def begin(self, request: Request, there: str) -> RedirectResponse:
        """Send somebody to the provider; `there` is where they come back to, a path of this site."""
        request.session["next"] = local_path(there)
        answer: RedirectResponse = await self._client.authorize_redirect(request, self._back)
        return answer

    async def finish(self, request: Request) -> tuple[Claims, str, str]:
        """Return who came back, their access token, and where they were going.

        Raises:
            RefusedError: If anything about the answer is not what was asked for.
        """
        there = local_path(str(request.session.get("next", "/")))
        try:
            token = await self._client.authorize_access_token(request)
        except (OAuthError, JoseError) as error:
            raise RefusedError("the login was refused", hint=f"{type(error).__name__}: try again") from None
        finally:
            request.session.clear()
        found = dict(token.get("userinfo") or {})
        if not found.get("sub") or not found.get("iss"):
            raise RefusedError("the provider sent no identity", hint="it must answer with an ID token")
        access = str(token.get("access_token") or "")
        if self._settings.roles_claim not in found and access:
            found |= {name: value for name, value in (await self._ask(access)).items() if name not in found}
        return self._claims(found), access, there

    async def read_again(self, claims: Claims, access: str) -> Claims | None:
        """Return what the provider says now about somebody who is logged in; None when it no longer knows them."""
        try:
            found = await self._ask(access)
        except RefusedError:
            return None
        issuer, _, subject = claims.subject.partition("|")
        if found.get("sub") != subject:
            return None
        return self._claims(found | {"iss": issuer})

    async def _ask(self, access: str) -> dict[str, Any]:
        try:
            return dict(await self._client.userinfo(token={"access_token": access, "token_type": "Bearer"}))
        except Exception as error:  # noqa: BLE001  (whatever it is, nobody is let in on it)
            raise RefusedError("the provider does not say who this is", hint=type(error).__name__) from None

    def _claims(self, found: dict[str, Any]) -> Claims:
        groups = found.get(self._settings.roles_claim) or ()
        listed = [groups] if isinstance(groups, str) else list(groups) if isinstance(groups, list | tuple) else []
        name = found.get("name") or found.get("preferred_username") or found.get("email")
        return Claims(
            subject=f"{found['iss']}|{found['sub']}"[:LONGEST_NAME],
            name=str(name)[:LONGEST_NAME] if name else None,
            groups=tuple(str(one)[:LONGEST_NAME] for one in listed[:MOST_GROUPS]),
        )


def roles_of(settings: ServeSettings, groups: tuple[str, ...]) -> tuple[RoleName, ...]:
    """Return the roles somebody's groups give them."""
    held = set(groups)
    return tuple(role for role in ROLES if held & set(settings.roles.get(role, ())))


def audiences_of(settings: ServeSettings, roles: tuple[RoleName, ...]) -> tuple[str, ...]:
    """Return the audiences whose candidates these roles may see."""
    return tuple(dict.fromkeys(one for role in roles for one in settings.audiences.get(role, ())))


def local_path(there: str) -> str:
    r"""Return a path of this site; anything that could lead elsewhere becomes the start page.

    >>> local_path("/queue"), local_path("//example.org"), local_path("/\\example.org"), local_path("https://a")
    ('/queue', '/', '/', '/')
    """
    plain = there.startswith("/") and not there.startswith(("//", "/\\")) and there.isprintable()
    return there if plain and "\\" not in there and len(there) <= 500 else "/"


def _secret(settings: OidcSettings, site: Site) -> str:
    value = site.workspace.named_secret(settings.client_secret)
    if value is None:
        raise SettingsError(
            "serve.oidc.client_secret is not there", hint="write env:NAME and set that environment variable"
        )
    return value
