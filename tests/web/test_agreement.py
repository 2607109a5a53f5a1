"""Agreement, as leads see it."""

from typing import Any

from fastapi.testclient import TestClient


def test_little_is_said_of_little(client: TestClient) -> None:
    """Without doubles every figure is a dash with its reason, and no person is named."""
    page = client.get("/agreement").text
    assert "which document answers best" in page
    assert "–" in page
    assert ".000" not in page


def test_only_leads_see_it(team_client: Any) -> None:
    """A reviewer is refused."""
    assert team_client("reviewer").get("/agreement").status_code == 403
    assert team_client("lead", name="bo").get("/agreement").status_code == 200
