"""Where a model of findback.toml is reached, what is sent there, and what somebody must agree to first."""

from typing import NamedTuple

from findback.endpoint import check_address, host_of, is_loopback, origin_of
from findback.errors import RefusedError, SettingsError
from findback.model.settings import EgressLevel, ModelSettings
from findback.model.trusted import Trusted

HOSTS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
"""Where the providers are whose address need not be said."""
WEIGHTS = ".gguf"
"""How files of local models end; a name without it is one of the catalogue."""


class Address(NamedTuple):
    """Where a model is reached."""

    name: str
    """Its name in findback.toml."""
    label: str
    """Provider and model, as kept with what it writes."""
    base_url: str | None
    """Where its server listens; None for a model that runs inside findback."""
    level: EgressLevel
    """How far texts travel."""
    variable: str | None
    """Name of the environment variable that holds its key; None where it needs none."""

    @property
    def origin(self) -> str:
        """Return scheme, host and port, fit to be shown; for a model inside findback what counts call it."""
        return f"{self.label}, in this process" if self.base_url is None else origin_of(self.base_url)


def find_address(name: str, settings: ModelSettings) -> Address:
    """Return where a model is reached.

    Raises:
        SettingsError: If a setting makes no sense.
        RefusedError: If the address is one that must not be called.
    """
    base_url = _find_base_url(name, settings)
    return Address(
        name=name,
        label=f"{settings.provider}:{settings.model}",
        base_url=base_url,
        level=settings.egress or _level_of(base_url),
        variable=_find_variable(name, settings),
    )


def list_trusted_models(name: str, settings: ModelSettings) -> tuple[Trusted, ...]:
    """Return the host texts would go to, the variable whose value would go there, a file and a level that are claimed.

    Raises:
        SettingsError: If a setting makes no sense.
        RefusedError: If the address is one that must not be called.
    """
    address = find_address(name, settings)
    items = []
    if address.base_url is not None:
        items.append(Trusted("host", f"{address.origin}, asked by model {name}"))
    if address.variable is not None:
        items.append(Trusted("variable", f"${address.variable}, sent to {address.origin} by model {name}"))
    if settings.provider == "local" and settings.model.endswith(WEIGHTS):
        # What a model of the catalogue holds is known by its hash; what this one makes of the library is not.
        items.append(Trusted("module", f"the file {settings.model}, run by model {name}"))
    if settings.egress is not None:
        items.append(Trusted("egress", f"model {name} counts as {settings.egress}"))
    return tuple(items)


def _find_base_url(name: str, settings: ModelSettings) -> str | None:
    if settings.provider == "local":
        if settings.base_url is not None:
            raise SettingsError(
                f"[models.{name}] base_url: a local model runs inside findback, and has none",
                hint="for a server on this machine: provider = 'openai' and its base_url",
            )
        return None
    base_url = settings.base_url or HOSTS.get(settings.provider)
    if base_url is None:
        raise SettingsError(
            f"[models.{name}] base_url: say where {settings.provider} listens",
            hint="whoever agrees to this workspace has to see where texts go",
        )
    try:
        check_address(base_url)
    except RefusedError as error:
        raise RefusedError(f"[models.{name}] base_url: {error}", hint=error.hint) from None
    return base_url


def _level_of(base_url: str | None) -> EgressLevel:
    return "local" if base_url is None or is_loopback(host_of(base_url) or "") else "external"


def _find_variable(name: str, settings: ModelSettings) -> str | None:
    if settings.key is None:
        if settings.base_url is None and settings.provider != "local":
            raise SettingsError(f"[models.{name}] needs a key", hint='export it, and write key = "env:NAME"')
        return None
    kind, _, variable = settings.key.partition(":")
    if kind != "env" or not (variable.isascii() and variable.isidentifier()):
        raise SettingsError(
            f"[models.{name}] key: a secret is named, never written into findback.toml",
            hint='export it, and write key = "env:NAME"',
        )
    if settings.provider == "local":
        raise SettingsError(f"[models.{name}] key: a local model runs inside findback, and needs none")
    return variable
