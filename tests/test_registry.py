"""Variants by name."""

import sys
from importlib.metadata import EntryPoint

import pytest

from findback import registry
from findback.errors import MissingError, MissingLibraryError, SettingsError


@pytest.mark.parametrize("group", sorted(registry.GROUPS))
def test_every_variant_of_ours_loads(group: str) -> None:
    """Each entry point of this package names something that is there."""
    assert registry.names(group)
    for name in registry.names(group):
        assert registry.load(group, name) is not None
        assert registry.is_ours(group, name)


def test_unknown_name_lists_what_there_is() -> None:
    """A wrong name says which names there are."""
    with pytest.raises(MissingError) as caught:
        registry.load("findback.retrievers", "solr9")
    assert "bm25" in (caught.value.hint or "")


def _offer(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    registry._found.cache_clear()
    monkeypatch.setattr(registry, "entry_points", lambda group: [p for p in points if p.group == group])
    monkeypatch.setattr(registry, "_found", registry._found.__wrapped__)


def test_name_clash_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two packages that offer one name are both named; none of them wins."""
    group = "findback.retrievers"
    _offer(monkeypatch, EntryPoint("bm25", "a.b:C", group), EntryPoint("bm25", "d.e:F", group))
    with pytest.raises(SettingsError, match=r"a\.b:C.*d\.e:F"):
        registry.names(group)


def test_missing_library_names_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an optional library is absent, the error says what to install."""
    group = "findback.retrievers"

    def absent(self: EntryPoint) -> object:
        raise ModuleNotFoundError("No module named 'onnxruntime'", name="onnxruntime.capi")

    _offer(monkeypatch, EntryPoint("dense", "findback.retrievers.dense:DenseRetriever", group))
    monkeypatch.setattr(EntryPoint, "load", absent)
    with pytest.raises(MissingLibraryError) as caught:
        registry.load(group, "dense")
    assert caught.value.hint == "pip install 'findback[dense]'"


def test_a_module_of_ours_names_the_library_it_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names extra and purpose; a module that no extra brings is a defect and is not dressed up."""
    monkeypatch.delitem(sys.modules, "findback.text.parquet", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingLibraryError, match="reading Parquet") as caught:
        registry.load_module("findback.text.parquet", wanted_for="reading Parquet")
    assert caught.value.hint == "pip install 'findback[parquet]'"
    with pytest.raises(ModuleNotFoundError):
        registry.load_module("findback.text.nothing", wanted_for="reading Parquet")
