"""What a model wrote, on the page of whoever confirms it."""

from fastapi.testclient import TestClient

from builders.candidates import described, digest, paraphrased, written
from builders.forms import assert_inert, send
from builders.hostile import HOSTILE
from findback.evalset.head import read_head
from findback.web.site import Site

BADGE = "howto/badge.md"


def put(site: Site, *candidates: object) -> None:
    site.bench.put(candidates, now=site.now())  # type: ignore[arg-type]


def test_a_generated_question_says_how_it_was_written(client: TestClient, site: Site) -> None:
    """Model, prompt, voice, leak, what the judge said, and the doubts; its document is marked as described."""
    doubted = written(BADGE, doubts=("judge not sure",), for_decisions=False)
    put(site, described("g", BADGE, query="the thing that opens our gate is gone", written=doubted))
    page = client.get(f"/items/{digest('g')}").text
    for said in (
        "A model wrote this",
        "scripted:writer",
        "describe@0123456789ab",
        "who a nurse, length one line",
        "judge not sure",
        "0.25",
        "chose the document 2 of 3 times",
        "the model described it",
        "fit for trying things out only",
    ):
        assert said in page, said
    assert "the resolver&#39;s link" not in page


def test_what_a_model_made_up_commands_no_browser(client: TestClient, site: Site) -> None:
    """Names of models, voices, documents and doubts stand as text, like the question."""
    odd = written(
        HOSTILE[:200],
        model=HOSTILE[:200],
        voice={"who": HOSTILE[:200]},
        doubts=(HOSTILE[:200],),
    )
    put(site, described("g", BADGE, query=HOSTILE, written=odd))
    assert_inert(client.get(f"/items/{digest('g')}").text)


def test_a_paraphrase_is_confirmed_beside_the_question_it_was_made_from(client: TestClient, site: Site) -> None:
    """The page shows that question and its answers, asks for no grades, and an empty submission makes it ready."""
    root = read_head(site.workspace.evalset).cases[0]
    put(site, paraphrased("p", root.id, query="say it in some other way"))
    page = client.get(f"/items/{digest('p')}").text
    assert "Does it ask the same?" in page
    assert root.query in page
    assert root.judged[0].doc in page
    assert "What answers it?" not in page
    assert "How was it worded?" not in page
    answer = send(client, f"/items/{digest('p')}", do="submit", revision="0", request="r1")
    assert answer.status_code == 303
    assert site.bench.get(digest("p")).state == "ready"


def test_the_queue_tells_origins_apart(client: TestClient, site: Site) -> None:
    """Filtered by origin, people's questions and the model's are never on one list."""
    put(site, described("g", BADGE, query="the thing that opens our gate is gone"))
    page = client.get("/queue?origins=generated").text
    assert "opens our gate" in page
    assert "lost my card" not in page
    assert "<option selected>generated</option>" in page
    assert "opens our gate" not in client.get("/queue?origins=mined").text
