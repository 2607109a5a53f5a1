"""The configurations of the how-to pages: each builds as it is written."""

import re
import tomllib
from pathlib import Path

import pytest

from findback.model.settings import RetrieverSettings
from findback.retrievers.build import build_retriever, list_trusted
from findback.retrievers.surroundings import Surroundings
from retrievers.builders import TEXTS, SmallPassages

PAGES = Path(__file__).resolve().parents[2] / "docs" / "engines"
OURS = (
    *(
        "elasticsearch",
        "sql",
        "frameworks",
        "mcp",
        "typesense",
        "meilisearch",
        "vespa",
        "azure-search",
        "tantivy",
        "vectors",
    ),
)
VARIABLES = (
    "ES_API_KEY",
    "OS_BASIC",
    "DOCS_TOKEN",
    "TYPESENSE_KEY",
    "MEILI_KEY",
    "VESPA_TOKEN",
    "AZURE_SEARCH_KEY",
    "WEAVIATE_KEY",
)


def tables_of(page: Path) -> list[tuple[str, dict]]:
    """Return the tables of a page; a block without a heading of its own adds to the table before it."""
    found: list[tuple[str, dict]] = []
    for block in re.findall(r"```toml\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        read = tomllib.loads(block if block.lstrip().startswith("[") else f"[retrievers.more]\n{block}")
        for name, table in read["retrievers"].items():
            if "kind" in table:
                found.append((name, table))
                continue
            name_before, before = found[-1]
            kept = {key: value for key, value in before.items() if key != "fields" or "body" not in table}
            found.append((name_before, {**kept, **table}))
    return found


@pytest.mark.parametrize("name", OURS)
def test_every_configuration_of_a_page_builds(name: str, tmp_path: Path):
    """With its variables set and its files there; each asks for trust, or searches the corpus itself."""
    (tmp_path / "search.db").touch()
    (tmp_path / "data" / "lance").mkdir(parents=True)
    (tmp_path / "our_search.py").write_text("def retriever(query, k):\n    return []\n", "utf-8")
    environment = dict.fromkeys(VARIABLES, "x" + "y")
    environment["DATABASE_URL"] = "postgresql://ann@db.example.org/docs"
    around = Surroundings(base=tmp_path, environment=environment, passages=SmallPassages(TEXTS))
    tables = tables_of(PAGES / f"{name}.md")
    assert tables
    for title, table in tables:
        settings = RetrieverSettings.model_validate(table)
        assert list_trusted({title: settings}) or settings.kind == "tantivy"
        if settings.own.get("model") is None:
            assert build_retriever(title, settings, around).name == title
