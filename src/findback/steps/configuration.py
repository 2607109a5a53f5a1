"""Show the settings, and where each value came from."""

from typing import Any

from findback.model.record import Record
from findback.workspace import Origin, Workspace, flatten, without_credentials


class Setting(Record):
    """One setting as it is in force."""

    name: str
    value: str
    origin: Origin


class Configuration(Record):
    """Every setting in force."""

    file: str | None
    private: str
    settings: tuple[Setting, ...]


def show_configuration(workspace: Workspace) -> Configuration:
    """Return every setting with its origin; addresses lose their credentials."""
    values = flatten(workspace.settings.model_dump(mode="json"))
    return Configuration(
        file=str(workspace.file) if workspace.file else None,
        private=str(workspace.private),
        settings=tuple(
            Setting(name=name, value=shown(value), origin=origin_of(name, workspace)) for name, value in values.items()
        ),
    )


def origin_of(name: str, workspace: Workspace) -> Origin:
    """Return where a value came from; a table's origin serves for its parts."""
    place = name
    while place:
        if place in workspace.origins:
            return workspace.origins[place]
        place = place.rpartition(".")[0]
    return "default"


def shown(value: Any) -> str:
    """Return a value as text without credentials in addresses."""
    if isinstance(value, list):
        return ", ".join(shown(item) for item in value) or "(none)"
    if value is None:
        return "(none)"
    if isinstance(value, dict):
        return "(none)"
    return without_credentials(str(value))
