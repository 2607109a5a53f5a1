"""findback.toml, its layers, and the private folder."""

import stat
from pathlib import Path

import pytest

from findback.errors import MissingError, SettingsError
from findback.steps.configuration import show_configuration
from findback.workspace import PLACES, find_file, open_workspace, without_credentials


def write(folder: Path, text: str) -> Path:
    (folder / "findback.toml").write_text(text, "utf-8")
    return folder


def test_argument_beats_environment_beats_file(tmp_path: Path) -> None:
    """The nearest layer wins: file < environment < argument, and each value remembers where it came from."""
    write(tmp_path, "[measures]\ndepth = 10\nmargin = 0.1\nprimary = 'RR@5'\n")
    workspace = open_workspace(
        tmp_path,
        environment={"FINDBACK_MEASURES__DEPTH": "20", "FINDBACK_MEASURES__PRIMARY": "RR@7", "HOME": str(tmp_path)},
        arguments={"measures.depth": 30},
    )
    assert (workspace.settings.measures.depth, workspace.origins["measures.depth"]) == (30, "argument")
    assert (workspace.settings.measures.primary, workspace.origins["measures.primary"]) == ("RR@7", "environment")
    assert (workspace.settings.measures.margin, workspace.origins["measures.margin"]) == (0.1, "file")


def test_workspace_is_found_above(tmp_path: Path) -> None:
    """A command works from any folder below findback.toml, but never reaches out of the git repository."""
    write(tmp_path, "name = 'x'\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find_file(inner) == tmp_path / "findback.toml"
    (tmp_path / "a" / ".git").mkdir()
    assert find_file(inner) is None


def test_missing_workspace_says_what_to_do(tmp_path: Path) -> None:
    """Without findback.toml the error names the folder and the command that writes one."""
    (tmp_path / ".git").mkdir()
    with pytest.raises(MissingError, match=r"no findback\.toml") as caught:
        open_workspace(tmp_path, environment={})
    assert "findback init" in (caught.value.hint or "")
    assert open_workspace(tmp_path, environment={}, required=False).file is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[measures]\ndepht = 10\n", "measures.depht: unknown setting"),
        ("[measures]\ndepth = 'many'\n", "measures.depth: input should be a valid integer"),
        ("[measures]\nmargin = nan\n", "measures.margin"),
        ("[measures\n", "line 1"),
        ("format = 2\n", "format"),
    ],
)
def test_faults_name_file_and_setting(tmp_path: Path, text: str, said: str) -> None:
    """A setting that makes no sense is named with its file, in a sentence without the value."""
    write(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        open_workspace(tmp_path, environment={})
    assert said in str(caught.value)
    assert "findback.toml" in str(caught.value)
    assert "many" not in str(caught.value)


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    """Two wrong settings are two lines of one error."""
    write(tmp_path, "naem = 'x'\n[measures]\ndepth = -1\n")
    with pytest.raises(SettingsError) as caught:
        open_workspace(tmp_path, environment={})
    assert "naem: unknown setting" in str(caught.value)
    assert "measures.depth" in str(caught.value)


def test_unknown_variable_is_no_silence(tmp_path: Path) -> None:
    """A misspelt environment setting is an error, not ignored."""
    write(tmp_path, "")
    with pytest.raises(SettingsError, match="FINDBACK_MEASURE__DEPTH"):
        open_workspace(tmp_path, environment={"FINDBACK_MEASURE__DEPTH": "3"})


def test_not_utf8_names_the_byte(tmp_path: Path) -> None:
    """A settings file in another encoding says so, and where."""
    (tmp_path / "findback.toml").write_bytes(b"name = '\xff'\n")
    with pytest.raises(SettingsError, match="not UTF-8 at byte 8"):
        open_workspace(tmp_path, environment={})


def test_private_folder_lies_outside_and_is_private(tmp_path: Path) -> None:
    """The private folder is below the user's state folder with mode 0700, never in the work tree."""
    root = tmp_path / "work"
    root.mkdir()
    write(root, "")
    state = tmp_path / "state"
    workspace = open_workspace(root, environment={"XDG_STATE_HOME": str(state)})
    for name in PLACES:
        place = workspace.private_part(name)
        assert place.is_relative_to(state)
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE(workspace.private.stat().st_mode) == 0o700
    with pytest.raises(ValueError, match="no private place"):
        workspace.private_part("anywhere")


def test_two_folders_do_not_share_private_things(tmp_path: Path) -> None:
    """Two workspaces of the same name have private folders of their own."""
    ids = set()
    for parent in ("a", "b"):
        folder = tmp_path / parent / "docs"
        folder.mkdir(parents=True)
        write(folder, "")
        ids.add(open_workspace(folder, environment={}).id)
    assert len(ids) == 2


def test_shown_settings_carry_no_credentials(tmp_path: Path) -> None:
    """`config show` prints where values came from, and addresses without user, password and query."""
    secret = "hunter" + "2"
    write(
        tmp_path,
        f"[corpus]\npath='docs'\nbase_url='https://u:{secret}@docs.example.org/x?token={secret}'\n"
        f"[retrievers.a]\nkind='http'\nurl='http://u:{secret}@127.0.0.1/s'\n",
    )
    shown = show_configuration(open_workspace(tmp_path, environment={"HOME": str(tmp_path)}))
    text = shown.model_dump_json()
    assert secret not in text
    origins = {setting.name: setting.origin for setting in shown.settings}
    assert origins["corpus.base_url"] == "file"
    assert origins["measures.depth"] == "default"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://example.org/a", "https://example.org/a"),
        ("https://u:p@example.org/a?k=v", "https://***@example.org/a?***"),
        ("docs", "docs"),
        ("http://[half", "(an address that cannot be read)"),
    ],
)
def test_addresses_lose_credentials(address: str, shown: str) -> None:
    """Only what could be a secret goes; a path stays a path."""
    assert without_credentials(address) == shown
