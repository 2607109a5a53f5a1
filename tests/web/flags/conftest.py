"""A portal that takes flags, and a page of it."""

from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from builders.flags import FLAGS
from builders.pagesettings import BASE
from findback.web.app import create_app
from findback.web.site import Site
from findback.workspace import Workspace, open_workspace


@pytest.fixture
def workspace(workspace: Workspace) -> Workspace:
    """The workspace of a portal that takes flags."""
    file = workspace.root / "findback.toml"
    file.write_text(file.read_text("utf-8") + FLAGS, "utf-8")
    return open_workspace(workspace.root, environment=workspace.environment)


@pytest.fixture
def app(site: Site) -> FastAPI:
    return create_app(site)


@pytest.fixture
def portal(app: FastAPI) -> Iterator[TestClient]:
    """A page of the portal, opened by somebody whom nobody knows."""
    with TestClient(app, base_url=BASE, client=("198.51.100.7", 1), follow_redirects=False) as made:
        yield made
