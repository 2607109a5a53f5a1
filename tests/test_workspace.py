"""findback.toml, its layers, and the private folder."""

import os
import stat
from pathlib import Path

import pytest

from findback.errors import MissingError, SettingsError
from findback.files import TEMPORARY
from findback.places import PLACES
from findback.steps.configuration import show_configuration
from findback.workspace import find_file, open_workspace, without_credentials


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


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("~nouser-4711/x", "there is no such user"),
        ("a\\u0000b", "it holds characters that no path may have"),
        ("x" * 5000, "file name too long"),
    ],
)
def test_private_folder_that_is_no_path(tmp_path: Path, setting: str, why: str) -> None:
    """A `private` that no disk could hold is a wrong setting, named with its file, whoever asks for it first."""
    write(tmp_path, f'private = "{setting}"\n')
    workspace = open_workspace(tmp_path, environment={"HOME": str(tmp_path)})
    for ask in (lambda: workspace.private, lambda: workspace.private_part("runs"), lambda: workspace.path("~nouser-1")):
        with pytest.raises(SettingsError) as caught:
            ask()
        assert "findback.toml: " in str(caught.value)
    with pytest.raises(SettingsError, match=why):
        show_configuration(workspace)


def test_state_folder_is_private(tmp_path: Path) -> None:
    """The folder of all workspaces' private things is 0700, not only what lies in it."""
    root = tmp_path / "work"
    root.mkdir()
    write(root, "")
    open_workspace(root, environment={"XDG_STATE_HOME": str(tmp_path / "state")}).private_part("runs")
    assert stat.S_IMODE((tmp_path / "state" / "findback").stat().st_mode) == 0o700


def test_leftovers_of_killed_processes_go(tmp_path: Path) -> None:
    """Opening a private place removes temporary files there and above that are older than a day."""
    write(tmp_path, "")
    workspace = open_workspace(tmp_path, environment={"XDG_STATE_HOME": str(tmp_path / "state")})
    place = workspace.private_part("evaluations")
    stale = [folder / f"{TEMPORARY}0123" for folder in (place, workspace.private, workspace.private.parent)]
    for path in stale:
        path.write_text("half")
        os.utime(path, (0, 0))
    fresh = place / f"{TEMPORARY}4567"
    fresh.write_text("half")
    workspace.private_part("evaluations")
    assert [path.exists() for path in (*stale, fresh)] == [False, False, False, True]


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 20_000,
        "x = " + "[" * 20_000 + "]" * 20_000,
        ".".join("a" * 1 for _ in range(20_000)) + " = 1",
        "[retrievers.a]\nkind = 'http'\nbody = " + "{a = " * 40 + "1" + "}" * 40,
        "[measures]\nseed = " + "9" * 5000,
    ],
    ids=["open", "closed", "dotted", "inline", "digits"],
)
def test_settings_nobody_could_mean_are_refused(tmp_path: Path, text: str) -> None:
    """Nesting beyond all measure and endless numbers are wrong settings, never a fault of findback."""
    write(tmp_path, text)
    with pytest.raises(SettingsError, match=r"findback\.toml"):
        open_workspace(tmp_path, environment={})


@pytest.mark.parametrize("value", ["[" * 20_000, "[" * 40 + "]" * 40, "9" * 5000])
def test_variables_nobody_could_mean_are_refused(tmp_path: Path, value: str) -> None:
    """The same holds for values from the environment, and for names of many parts."""
    write(tmp_path, "")
    with pytest.raises(SettingsError, match=r"FINDBACK_RETRIEVERS__A__X|retrievers\.a\.x"):
        open_workspace(tmp_path, environment={"FINDBACK_RETRIEVERS__A__X": value})
    with pytest.raises(SettingsError, match="too deeply"):
        open_workspace(tmp_path, environment={"FINDBACK_RETRIEVERS" + "__A" * 100: "1"})


def test_variable_sets_one_setting(tmp_path: Path) -> None:
    """A value with line ends cannot smuggle in further tables, nor be cut short without a word."""
    write(tmp_path, "")
    with pytest.raises(SettingsError, match="more than one value"):
        open_workspace(tmp_path, environment={"FINDBACK_MEASURES__DEPTH": "1\n[corpus]\npath = '/etc'"})
    kept = open_workspace(tmp_path, environment={"FINDBACK_MEASURES__METRICS": "[\n'RR@10',\n'P@5']"})
    assert kept.settings.measures.metrics == ("RR@10", "P@5")


def test_settings_file_that_is_none_is_no_silence(tmp_path: Path) -> None:
    """A pipe, a folder or a loop of links named findback.toml is an error, not an absent file."""
    file = tmp_path / "findback.toml"
    made = (lambda: os.mkfifo(file), file.mkdir, lambda: file.symlink_to(file), lambda: file.symlink_to("nowhere"))
    for make in made:
        make()
        with pytest.raises(SettingsError, match=r"findback\.toml"):
            open_workspace(tmp_path, environment={}, required=False)
        file.rmdir() if file.is_dir() else file.unlink()


def test_toml_hint_names_a_page_that_exists(tmp_path: Path) -> None:
    """What the hint for broken TOML points at is there."""
    write(tmp_path, "[measures\n")
    with pytest.raises(SettingsError) as caught:
        open_workspace(tmp_path, environment={})
    named = next(word for word in (caught.value.hint or "").split() if word.startswith("docs/"))
    assert (Path(__file__).parent.parent / named).is_file()


def test_names_with_line_ends_stay_on_one_line(tmp_path: Path) -> None:
    """A folder or key with a line end in its name does not split an error."""
    folder = tmp_path / "a\nb"
    folder.mkdir()
    write(folder, '"x\\ny" = 1\n')
    with pytest.raises(SettingsError) as caught:
        open_workspace(folder, environment={})
    assert "\n" not in str(caught.value)
