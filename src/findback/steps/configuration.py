"""Show the settings, and where each value came from."""

from findback.model.record import Record
from findback.steps.masking import mask_setting
from findback.workspace import Origin, Workspace, flatten


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
    """Return every setting with its origin; secrets are masked."""
    values = flatten(workspace.settings.model_dump(mode="json"))
    return Configuration(
        file=str(workspace.file) if workspace.file else None,
        private=str(workspace.private),
        settings=tuple(
            Setting(name=name, value=mask_setting(name, value), origin=origin_of(name, workspace))
            for name, value in values.items()
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
