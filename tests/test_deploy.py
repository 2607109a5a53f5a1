"""The container file and the units of systemd name what is there."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from findback.cli.main import COMMANDS, app

ROOT = Path(__file__).resolve().parent.parent
UNITS = sorted((ROOT / "deploy" / "systemd").iterdir())
BINARY = "/opt/findback/bin/findback"


def instructions() -> list[tuple[str, str]]:
    """Each instruction of the container file, continued lines joined."""
    text = re.sub(r"\\\n\s*", " ", (ROOT / "Containerfile").read_text("utf-8"))
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def last(wanted: str) -> str:
    return [rest for word, rest in instructions() if word == wanted][-1]


def unit(path: Path) -> dict[str, list[str]]:
    """The keys of a unit, all sections together."""
    found: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        if line and not line.startswith(("[", "#")):
            key, equals, value = line.partition("=")
            assert equals, (path.name, line)
            found.setdefault(key, []).append(value)
    return found


def is_command(words: list[str]) -> bool:
    """Whether findback has this command, down to the one inside a group."""
    if words[0] not in COMMANDS:
        return False
    command = app[words[0]]
    inner = [name for name in command if not name.startswith("-")]
    return not inner or words[1] in inner


def test_what_the_container_copies_is_there() -> None:
    """Every file and folder that the build takes from here exists, and the ignore file lets it through."""
    allowed = (ROOT / ".containerignore").read_text().splitlines()
    copied = [rest.split()[:-1] for word, rest in instructions() if word == "COPY" and "--from" not in rest]
    names = [name for group in copied for name in group]
    assert "src" in names
    for name in names:
        assert (ROOT / name).exists(), name
        assert f"!{name}" in allowed, name
    assert allowed[0] == "*"


def test_the_container_runs_a_command_of_findback_as_nobody() -> None:
    """Not as root, on a slim image, with its private things in a volume and nothing written beside them."""
    assert all(rest.startswith("docker.io/library/python:3.13-slim") for word, rest in instructions() if word == "FROM")
    assert last("USER") == "10001:10001"
    order = [word for word, _ in instructions()]
    assert order.index("USER") > max(at for at, word in enumerate(order) if word == "RUN")
    assert "/state" in last("VOLUME")
    assert "XDG_STATE_HOME=/state" in last("ENV")
    assert last("ENTRYPOINT") == '["findback"]'
    assert is_command(re.findall(r'"([^"]+)"', last("CMD")))
    assert "--require-hashes" in " ".join(rest for word, rest in instructions() if word == "RUN")


def test_the_server_s_requirements_carry_hashes_and_what_a_server_needs() -> None:
    """Each has one; the page, PostgreSQL and encryption are among them; what builds the wheel too."""
    text = (ROOT / "requirements" / "server.txt").read_text()
    blocks = re.split(r"\n(?=[a-zA-Z0-9])", text)
    assert all("==" in block and "--hash=sha256:" in block for block in blocks)
    names = {block.split("==")[0].split("[")[0].strip().lower() for block in blocks}
    assert {"fastapi", "uvicorn", "psycopg", "pyrage", "hatchling"} <= names


@pytest.mark.parametrize("path", [one for one in UNITS if one.suffix == ".service"], ids=lambda one: one.name)
def test_each_unit_starts_a_command_of_findback_and_is_hardened(path: Path) -> None:
    """As a user of its own, with a private state folder and nothing else to write but what it names."""
    keys = unit(path)
    words = shlex.split(keys["ExecStart"][0])
    assert words[0] == BINARY
    assert is_command(words[1:])
    assert (keys["User"], keys["StateDirectory"], keys["StateDirectoryMode"]) == (["findback"], ["findback"], ["0700"])
    for key in ("ProtectHome", "NoNewPrivileges", "PrivateTmp"):
        assert keys[key] == ["yes"], key
    assert (keys["ProtectSystem"], keys["CapabilityBoundingSet"], keys["UMask"]) == (["strict"], [""], ["0077"])


@pytest.mark.parametrize("path", [one for one in UNITS if one.suffix == ".timer"], ids=lambda one: one.name)
def test_each_timer_starts_a_unit_that_is_there(path: Path) -> None:
    """And says when."""
    keys = unit(path)
    assert (path.parent / keys["Unit"][0]).is_file()
    assert keys["OnCalendar"]


def test_systemd_understands_the_units(tmp_path: Path) -> None:
    """The check of systemd itself says nothing about any of them, and rates the server as little exposed."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-missing: systemd-analyze is not there")
    copies = []
    for path in UNITS:
        # The check wants the program and the user to be on this machine.
        text = re.sub(r"^(User|Group)=.*\n", "", path.read_text().replace(BINARY, "/bin/true"), flags=re.MULTILINE)
        (tmp_path / path.name).write_text(text)
        copies.append(str(tmp_path / path.name))
    done = subprocess.run([analyze, "verify", *copies], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    rated = subprocess.run(
        [analyze, "security", "--offline=true", "--threshold=20", str(tmp_path / "findback.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert rated.returncode == 0, rated.stdout[-500:]
