"""The models of findback.toml that write and judge, opened once somebody agreed to where texts go."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from findback.errors import MissingError, UsageError
from findback.llm.address import WEIGHTS, find_address, list_trusted_models
from findback.llm.ask import Model
from findback.llm.budget import Budget, price_of
from findback.llm.open import KNOWN_MODELS, check_key, check_library, open_model
from findback.model.settings import ModelSettings
from findback.retrievers.catalogue import find_model, read_catalogue
from findback.steps.egress import open_departures
from findback.steps.opening import trusted_items
from findback.trust import require
from findback.workspace import Workspace, models_home


def open_budget(workspace: Workspace, limit: float | None = None) -> Budget:
    """Return what a run may cost: the limit asked for, else the one of `[writing]`; None of both for no limit."""
    return Budget(workspace.settings.writing.budget if limit is None else limit)


def open_writer(
    workspace: Workspace,
    *,
    name: str | None = None,
    budget: Budget | None = None,
    ask: Callable[[str], bool] | None = None,
) -> Model:
    """Return the model that writes: the one named, else that of `[writing]`, else the only one of `[models]`.

    Args:
        workspace: Where it is named.
        name: Its name; findback.toml's choice when None.
        budget: What the run may cost, shared by its models; the workspace's own when None.
        ask: Asks a person the trust question; None where nobody is there.

    Raises:
        UsageError: If no model is named, or several and none is chosen.
        MissingError: If there is none of that name, or a local one is not here.
        SettingsError: If a setting makes no sense or the variable of its key is not set.
        UntrustedError: If nobody agreed to where texts go.
        MissingLibraryError: If the library that reaches it is not installed.
    """
    chosen, settings = model_settings(workspace, name)
    return _open(workspace, chosen, settings, budget or open_budget(workspace), ask)


def open_judge(
    workspace: Workspace,
    writer: Model,
    *,
    name: str | None = None,
    budget: Budget | None = None,
    ask: Callable[[str], bool] | None = None,
) -> Model:
    """Return the model that judges: the one named, else that of `[writing]`, else the writer itself.

    `judge is writer` says that it judges itself, in fresh calls.

    Raises:
        FindbackError: As `open_writer`.
    """
    chosen = name or workspace.settings.writing.judge
    if chosen is None or chosen == writer.name:
        return writer
    chosen, settings = model_settings(workspace, chosen)
    return _open(workspace, chosen, settings, budget or open_budget(workspace), ask)


def model_settings(
    workspace: Workspace, name: str | None, *, role: Literal["writer", "judge"] = "writer"
) -> tuple[str, ModelSettings]:
    """Return the name and settings of a model; findback.toml's choice for the role when none is named.

    Raises:
        UsageError: If no model is named, or several and none is chosen.
        MissingError: If there is none of that name.
        RefusedError: If its address is one that must not be called.
    """
    known = workspace.settings.models
    writing = workspace.settings.writing
    chosen = name or (writing.judge if role == "judge" else None) or writing.writer
    if chosen is None:
        if len(known) != 1:
            raise UsageError(
                f"findback.toml names {len(known) or 'no'} models, and none as the one that writes",
                hint="name one in [models.NAME] (see docs/models.md), and choose it: [writing] writer = NAME",
            )
        chosen = next(iter(known))
    if chosen not in known:
        raise MissingError(
            f"there is no [models.{chosen}] in findback.toml", hint=f"known: {', '.join(known) or 'none'}"
        )
    if known[chosen].base_url is not None:
        # A dry run, which opens no model, refuses what the real one would.
        find_address(chosen, known[chosen])
    return chosen, known[chosen]


def _open(
    workspace: Workspace, name: str, settings: ModelSettings, budget: Budget, ask: Callable[[str], bool] | None
) -> Model:
    if list_trusted_models(name, settings) or workspace.settings.writing.prompts is not None:
        # One answer covers the workspace, so that another command does not ask again.
        require(workspace.root, trusted_items(workspace), workspace.environment, ask=ask)
    weights = None
    if settings.provider == "local":
        weights, fit = _find_weights(workspace, settings)
        settings = settings.model_copy(update={"for_decisions": settings.for_decisions and fit})
    return open_model(
        name,
        settings,
        cache=workspace.private_part("answers"),
        budget=budget,
        departures=open_departures(workspace),
        secret=workspace.named_secret(settings.key),
        unreviewed_allowed=name in workspace.settings.egress.unreviewed_to,
        weights=weights,
    )


def describe_model(workspace: Workspace, name: str, settings: ModelSettings) -> str:
    """Return how a model would be reached, in one line; it is not asked, because questions may cost.

    Raises:
        FindbackError: If it cannot be reached like this: a setting, its key, its file or a library is missing.
    """
    address = find_address(name, settings)
    check_key(address, workspace.named_secret(settings.key))
    check_library(settings)
    notes = [address.label, address.level]
    fit = settings.for_decisions
    if address.base_url is None:
        weights, known_fit = _find_weights(workspace, settings)
        if not weights.is_file():
            raise MissingError(f"[models.{name}] model: the file {weights} is not there", hint=KNOWN_MODELS)
        fit = fit and known_fit
    else:
        notes.append(f"at {address.origin}")
    notes += [f"key in ${address.variable}"] if address.variable else []
    notes += ["no price known"] if price_of(settings) is None else []
    notes += ["for trying things out only"] if not fit else []
    return f"{', '.join(notes)}; not asked"


def _find_weights(workspace: Workspace, settings: ModelSettings) -> tuple[Path, bool]:
    """Return the GGUF file of a local model, and whether what it writes is fit for decisions.

    Raises:
        MissingError: If the catalogue has no such model, it has not been pulled, or it is none that writes.
        RefusedError: If a file of the catalogue has other bytes than it must have.
    """
    if settings.model.endswith(WEIGHTS):
        return workspace.path(settings.model), True
    known = read_catalogue().get(settings.model)
    if known is None:
        raise MissingError(f"there is no model {settings.model!r}", hint=KNOWN_MODELS)
    folder = find_model(settings.model, base=workspace.root, models=models_home(workspace.environment))
    for file in known.files:
        if file.name.endswith(WEIGHTS):
            return folder / file.name, known.for_decisions
    raise MissingError(f"{settings.model} is no model that writes: {known.what}", hint=KNOWN_MODELS)
