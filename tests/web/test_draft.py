"""A model's draft on the page of a candidate: not before its reader answered."""

from fastapi.testclient import TestClient

from builders.candidates import NOON, digest
from findback.model.assisted import SuggestedGrade, Suggestion
from findback.model.case import Judgement
from findback.model.review import Review
from findback.model.reviewer import Reviewer
from findback.steps.localreviewer import local_reviewer
from findback.steps.review import submit
from findback.web.site import Site

KEY = digest("badge")
SENTENCE = "A lost <b>badge</b> is blocked at the reception desk"


def hand_in(site: Site, reviewer: Reviewer) -> None:
    gold = Judgement(doc="howto/badge.md", grade=2, found_by="pool")
    submit(site.desk, reviewer, KEY, Review(wording="plain", judged=(gold,)), revision=0, now=site.now())


def keep_draft(site: Site) -> None:
    grades = (
        SuggestedGrade(document="howto/badge.md", grade=3, quote=SENTENCE),
        SuggestedGrade(document="policies/leave.md", grade=0),
    )
    draft = Suggestion(model="openai:gpt-test", prompt="suggest@1", at=NOON, grades=grades)
    site.bench.put_suggestions({KEY: draft}, now=NOON)


def test_a_draft_is_on_no_page_before_one_answered(client: TestClient, site: Site) -> None:
    """Neither item nor queue nor the interface for programs has it; afterwards the item does, made inert."""
    keep_draft(site)
    for path in (f"/items/{KEY}", "/queue", "/v1/queue", f"/v1/items/{KEY}"):
        page = client.get(path).text
        assert "gpt-test" not in page
        assert "would have said" not in page
    hand_in(site, local_reviewer())
    page = client.get(f"/items/{KEY}").text
    assert "What a model would have said" in page
    assert "openai:gpt-test" in page
    assert "A lost &lt;b&gt;badge&lt;/b&gt; is blocked at the reception desk" in page


def test_one_s_answer_shows_nobody_else_the_draft(team_client, team_site: Site) -> None:
    """Another reviewer of the team, who has not answered, sees none."""
    keep_draft(team_site)
    hand_in(team_site, Reviewer("somebody else", "Somebody", ("reviewer",), ("public",)))
    page = team_client("reviewer").get(f"/items/{KEY}")
    assert page.status_code == 200
    assert "would have said" not in page.text
