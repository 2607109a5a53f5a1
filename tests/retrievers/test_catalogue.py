"""Models by name."""

import hashlib
import subprocess
import sys

import pytest

from findback.errors import MissingError, RefusedError
from findback.retrievers import catalogue
from findback.retrievers.catalogue import Model, ModelFile, find_model, list_models, pull


def sha(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def one_model(monkeypatch):
    """A catalogue with one small model of two files."""
    model = Model(
        what="small",
        licence="Apache-2.0",
        megabytes=1,
        files=(
            ModelFile(name="model.onnx", package="example-model==1.0", sha256=sha(b"weights")),
            ModelFile(name="tokenizer.json", package="example-words==2.0", sha256=sha(b"{}")),
        ),
    )
    monkeypatch.setattr(catalogue, "read_catalogue", lambda: {"small": model})


@pytest.fixture
def source(tmp_path):
    """A folder that holds both files, one of them deeper."""
    folder = tmp_path / "source"
    (folder / "deep").mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"weights")
    (folder / "deep" / "tokenizer.json").write_bytes(b"{}")
    return folder


def test_the_catalogue_names_exact_versions_and_digests():
    """Every file has a package with an exact version and a SHA-256."""
    for model in catalogue.read_catalogue().values():
        for file in model.files:
            assert "==" in file.package
            assert len(file.sha256) == 64
            assert "/" not in file.name


def test_a_model_is_taken_from_a_folder(one_model, source, tmp_path):
    """Only the named files arrive; a second pull does nothing; the list says so."""
    (source / "code.py").write_text("print('no')")
    models = tmp_path / "models"
    assert list_models(models)[0].state == "not pulled"
    assert pull("small", models, from_folder=source) == (models / "small", True)
    assert sorted(path.name for path in (models / "small").iterdir()) == ["model.onnx", "tokenizer.json"]
    assert pull("small", models, from_folder=source) == (models / "small", False)
    assert list_models(models)[0].state == "here"
    assert find_model("small", base=tmp_path, models=models) == models / "small"
    assert [path.name for path in models.iterdir()] == ["small"]


def test_a_wrong_file_is_refused_with_both_digests(one_model, source, tmp_path):
    """Nothing is kept of a model with a wrong file."""
    (source / "model.onnx").write_bytes(b"other weights")
    with pytest.raises(RefusedError) as caught:
        pull("small", tmp_path / "models", from_folder=source)
    assert sha(b"other weights") in str(caught.value)
    assert sha(b"weights") in str(caught.value)
    assert list((tmp_path / "models").iterdir()) == []


def test_a_damaged_model_is_noticed_and_pulled_again(one_model, source, tmp_path):
    """Changed bytes are refused when the model is used, shown in the list, and mended by a pull."""
    models = tmp_path / "models"
    pull("small", models, from_folder=source)
    (models / "small" / "model.onnx").write_bytes(b"tampered")
    assert list_models(models)[0].state == "damaged"
    with pytest.raises(RefusedError, match="is not the file it should be"):
        find_model("small", base=tmp_path, models=models)
    pull("small", models, from_folder=source)
    assert list_models(models)[0].state == "here"


def test_a_folder_without_the_file_is_an_error(one_model, tmp_path):
    """The missing file and its package are named."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingError, match=r"model\.onnx is not there") as caught:
        pull("small", tmp_path / "models", from_folder=tmp_path / "empty")
    assert "example-model==1.0" in str(caught.value.hint)


def test_what_is_not_there_says_how_to_get_it(one_model, tmp_path):
    """A known name that was not pulled, an unknown one, and a folder of one's own."""
    with pytest.raises(MissingError) as caught:
        find_model("small", base=tmp_path, models=tmp_path)
    assert caught.value.hint == "findback models pull small"
    with pytest.raises(MissingError, match="no folder"):
        find_model("unknown", base=tmp_path, models=tmp_path)
    (tmp_path / "own").mkdir()
    assert find_model("own", base=tmp_path, models=None) == tmp_path / "own"
    with pytest.raises(MissingError, match="no model 'unknown'"):
        pull("unknown", tmp_path)


def test_packages_are_installed_aside_without_their_dependencies(one_model, source, tmp_path, monkeypatch):
    """The installer is told: no dependencies, into a temporary folder that is gone afterwards."""
    calls = []

    def run(command, **options):
        calls.append(command)
        if "-m" in command:
            return subprocess.CompletedProcess(command, 1, "", "No module named pip")
        from pathlib import Path

        target = Path(command[command.index("--target") + 1])
        assert target.is_relative_to(tmp_path / "models")
        target.mkdir()
        for name in ("model.onnx", "deep/tokenizer.json"):
            (target / name.rpartition("/")[2]).write_bytes((source / name).read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(catalogue.subprocess, "run", run)
    monkeypatch.setattr(catalogue.shutil, "which", lambda name: "/bin/uv")
    pull("small", tmp_path / "models")
    assert [command[0] for command in calls] == [sys.executable, "/bin/uv"] * 2
    assert all("--no-deps" in command for command in calls)
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["small"]


def test_no_installer_is_an_error_with_a_way_out(one_model, tmp_path, monkeypatch):
    """The hint names --from; nothing is left behind."""
    failed = subprocess.CompletedProcess([], 1, "", "line one\nno such index\n")
    monkeypatch.setattr(catalogue.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(MissingError, match=r"example-model==1\.0: no such index") as caught:
        pull("small", tmp_path / "models")
    assert "--from" in str(caught.value.hint)
    assert list((tmp_path / "models").iterdir()) == []


def test_a_model_in_a_home_folder_that_is_not_known_is_not_there(tmp_path):
    """`~nobody/model` is named like any other folder that is missing."""
    with pytest.raises(MissingError, match="there is no model '~no-such-user-x/model'"):
        find_model("~no-such-user-x/model", base=tmp_path, models=None)
