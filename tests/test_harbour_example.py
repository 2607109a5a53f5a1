"""What the Harbour example promises: its files agree with each other and with the record format."""

import json
import re
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

HARBOUR = Path(__file__).resolve().parent.parent / "examples" / "harbour"
DOCS = HARBOUR / "docs"
SUBJECTS = {"runbooks", "services", "how-to", "policies", "de"}
WORDINGS = {"plain", "vague", "symptom-first", "wrong-name"}
RENAMED = {
    "dockmaster": "quay-planner",
    "billfold": "ledgerline",
    "doorman": "gatehouse",
    "pigeon": "notify-relay",
    "hopper": "slotbook",
    "magpie": "carrier-ingest",
    "trackcat": "milestone-hub",
    "frostline": "reefer-watch",
}
CASE_KEYS = [
    "format",
    "id",
    "query",
    "language",
    "wording",
    "judged",
    "no_answer_reason",
    "origin",
    "stratum",
    "selected_on",
    "source",
    "cluster",
    "split",
    "status",
    "labelled_by",
    "confirmations",
    "seen_on",
    "asked",
    "redaction",
    "tags",
]
OPTIONAL = {"no_answer_reason", "selected_on"}


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def lines(name: str) -> list[dict]:
    return [json.loads(line) for line in read(HARBOUR / name).splitlines()]


def front_and_body(text: str) -> tuple[str, str]:
    opening, front, body = text.split("---\n", 2)
    assert opening == ""
    return front, body


def aliases(front: str) -> list[str]:
    return re.findall(r"^  - (/\S+)$", front, re.MULTILINE)


def golds(case: dict) -> list[dict]:
    return [j for j in case["judged"] if j["grade"] > 0]


PAGES = {p.relative_to(DOCS).as_posix(): read(p) for p in sorted(DOCS.rglob("*.md"))}
BODIES = {path: front_and_body(text)[1] for path, text in PAGES.items()}
FRONTS = {path: front_and_body(text)[0] for path, text in PAGES.items()}
GOLDEN = lines("golden.jsonl")
ASKED = lines("asked.jsonl")
ENGLISH = [c for c in ASKED if c["language"] == "en"]


def test_number_of_pages():
    """The portal has 84 to 95 English pages and ten German ones, in five subject folders."""
    german = [p for p in PAGES if p.startswith("de/")]
    assert len(german) == 10
    assert 84 <= len(PAGES) - len(german) <= 95
    assert {p.split("/")[0] for p in PAGES} == SUBJECTS


@pytest.mark.parametrize("path", PAGES)
def test_front_matter(path):
    """Every page has a title, two ISO dates in order, and its language where that is German."""
    front = FRONTS[path]
    assert re.search(r'^title: ".+"$', front, re.MULTILINE)
    dates = dict(re.findall(r"^(created|updated): (\S+)$", front, re.MULTILINE))
    assert date.fromisoformat(dates["created"]) <= date.fromisoformat(dates["updated"])
    assert ("language: de" in front.splitlines()) == path.startswith("de/")


def test_length_of_pages():
    """Every page has 120 to 450 words, except for exactly two stubs."""
    counts = {path: len(body.split()) for path, body in BODIES.items()}
    stubs = {path for path, n in counts.items() if n < 120}
    assert stubs == {"services/weigh-link.md", "how-to/book-a-room.md"}
    assert max(counts.values()) <= 450


@pytest.mark.parametrize("path", PAGES)
def test_links_between_pages(path):
    """Every relative link of a page leads to a page that exists."""
    for target in re.findall(r"\]\(([^)\s]+\.md)\)", BODIES[path]):
        assert (DOCS / path).parent.joinpath(target).resolve().is_relative_to(DOCS)
        assert (DOCS / path).parent.joinpath(target).is_file(), target


def test_redirects_agree_with_aliases():
    """The redirects file lists the aliases of the pages and nothing else."""
    rows = [line.split() for line in read(DOCS / "_redirects").splitlines() if not line.startswith("#")]
    assert len(rows) >= 5
    assert {status for _, _, status in rows} == {"301"}
    stated = {(alias, "/" + path.removesuffix(".md")) for path, front in FRONTS.items() for alias in aliases(front)}
    assert {(old, new) for old, new, _ in rows} == stated
    assert len({old for old, _, _ in rows}) == len(rows)


@pytest.mark.parametrize("old", RENAMED)
def test_old_names_stay_hidden(old):
    """A former service name is found in the migration note or in aliases, never in the text of another page."""
    assert f"services/{RENAMED[old]}.md" in PAGES
    in_text = {path for path, body in BODIES.items() if old in body.casefold()}
    in_front = {path for path, front in FRONTS.items() if old in front.casefold()}
    assert in_text <= {"services/name-changes.md"}
    assert in_text or in_front
    assert not (in_text and in_front)
    for path in in_front:
        assert any(old in alias for alias in aliases(FRONTS[path]))


@pytest.mark.parametrize(
    "stem",
    [
        "runbooks/milestone-hub-consumer-lag",
        "runbooks/reefer-alarm",
        "runbooks/site-failover",
        "how-to/print-gate-pass",
    ],
)
def test_near_duplicates(stem):
    """The pages of the two terminals differ in a few words only."""
    first, second = (Counter(BODIES[f"{stem}-{site}.md"].split()) for site in ("norrhaven", "castell-bay"))
    shared = sum((first & second).values())
    assert first != second
    assert shared / max(first.total(), second.total()) > 0.9


def test_page_that_mentions_everything():
    """The A to Z page names nearly every service, so keyword search is drawn to it."""
    services = {Path(p).stem for p in PAGES if p.startswith("services/")} - {"a-z", "name-changes"}
    named = {s for s in services if s in BODIES["services/a-z.md"].casefold()}
    assert len(named) / len(services) > 0.9


def test_golden_questions():
    """The answer key's questions are numbered, well formed, spread over all subjects, with one existing gold each."""
    assert len(GOLDEN) >= 64
    assert [c["id"] for c in GOLDEN] == [f"g{n:03d}" for n in range(1, len(GOLDEN) + 1)]
    for case in GOLDEN:
        assert list(case) == ["id", "query", "gold"]
        assert case["query"].endswith("?")
        assert len(case["gold"]) == 1
        assert case["gold"][0] in PAGES
    assert len({c["query"] for c in GOLDEN}) == len(GOLDEN)
    assert {c["gold"][0].split("/")[0] for c in GOLDEN} == SUBJECTS


def test_number_of_asked_cases():
    """There are at least 64 English and ten German cases, and each wording has at least twelve English ones."""
    assert len(ENGLISH) >= 64
    assert sum(c["language"] == "de" for c in ASKED) >= 10
    wordings = Counter(c["wording"] for c in ENGLISH)
    assert set(wordings) == WORDINGS
    assert min(wordings.values()) >= 12


def test_asked_ids():
    """Case ids are well formed, unique and in order."""
    ids = [c["id"] for c in ASKED]
    assert all(re.fullmatch(r"c[a-z0-9]{10}", i) for i in ids)
    assert ids == sorted(set(ids))


@pytest.mark.parametrize("case", ASKED, ids=lambda c: c["id"])
def test_case_record(case):
    """A case has its keys in the documented order and only values that the format knows."""
    assert list(case) == [k for k in CASE_KEYS if k in case]
    assert set(CASE_KEYS) - set(case) <= OPTIONAL
    assert case["format"] == 1
    assert case["query"] == case["query"].strip() != ""
    assert case["language"] in {"en", "de"}
    assert case["wording"] in WORDINGS
    assert case["origin"] in {"mined", "flagged"}
    assert case["stratum"] in {"failure", "control"}
    assert case.get("selected_on", "portal-search") == "portal-search"
    assert "selected_on" not in case or case["stratum"] == "failure"
    assert case["source"] in {"slack", "zendesk", "searchlog"}
    assert (case["split"], case["status"]) == ("dev", "active")
    assert case["labelled_by"] in {"resolver", "reviewer"}
    assert case["confirmations"] in {1, 2}
    assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", case["seen_on"])
    assert case["asked"] in {"1", "2-4", "5-19", "20+"}
    assert case["tags"] == []


@pytest.mark.parametrize("case", ASKED, ids=lambda c: c["id"])
def test_judgements(case):
    """Judgements name existing pages once, parts count from one, and a case without gold gives a reason."""
    docs = [j["doc"] for j in case["judged"]]
    assert set(docs) <= set(PAGES)
    assert len(docs) == len(set(docs))
    for j in case["judged"]:
        assert list(j) == [k for k in ("doc", "grade", "part", "anchor", "found_by") if k in j]
        assert j["grade"] in {0, 1, 2, 3}
        assert j["found_by"] in {"resolver", "reviewer", "pool"}
        assert "anchor" not in j or j["grade"] > 0
    parts = {j["part"] for j in golds(case)}
    assert parts == set(range(1, len(parts) + 1))
    assert bool(parts) != ("no_answer_reason" in case)


def test_anchors_are_quotations():
    """Every anchor is one line found byte for byte in the text of its page, and about half of the golds have one."""
    found = [j for c in ASKED for j in golds(c)]
    anchored = [j for j in found if "anchor" in j]
    for j in anchored:
        assert "\n" not in j["anchor"]
        assert j["anchor"] in BODIES[j["doc"]]
    assert 0.4 <= len(anchored) / len(found) <= 0.7


def test_kinds_of_answer():
    """At least eight cases need two pages, at least eight have no answer, and most have one."""
    parts = [len({j["part"] for j in golds(c)}) for c in ASKED]
    assert sum(n > 1 for n in parts) >= 8
    assert sum(n == 0 for n in parts) >= 8
    assert sum(n == 1 for n in parts) > len(parts) / 2


def test_strata_and_selection():
    """Three quarters of the cases are failures, and half of those were selected on the portal's own search."""
    failures = [c for c in ASKED if c["stratum"] == "failure"]
    assert 0.7 <= len(failures) / len(ASKED) <= 0.8
    assert 0.4 <= sum("selected_on" in c for c in failures) / len(failures) <= 0.6
    assert 0 < sum(c["origin"] == "flagged" for c in ASKED) < 10


def test_clusters():
    """A cluster is named after one of its cases, and at least four clusters hold two or three."""
    by_cluster = Counter(c["cluster"] for c in ASKED)
    assert set(by_cluster) <= {c["id"] for c in ASKED}
    assert max(by_cluster.values()) <= 3
    assert sum(n > 1 for n in by_cluster.values()) >= 4


def test_placeholders():
    """The types of a redaction are exactly the types of the placeholders in the query."""
    for case in ASKED:
        types = set(re.findall(r"⟦([A-Z_]+)_\d+⟧", case["query"]))
        assert case["redaction"] == {"types": sorted(types), "ruleset": "1"}
    assert sum(bool(c["redaction"]["types"]) for c in ASKED) >= 3


def test_asked_queries_are_not_quotations():
    """No question that people asked is repeated verbatim on a page, in the answer key or by another case."""
    texts = [text.casefold() for text in PAGES.values()]
    queries = [c["query"].casefold() for c in ASKED]
    assert len(set(queries)) == len(queries)
    assert not set(queries) & {c["query"].casefold() for c in GOLDEN}
    for query in queries:
        assert not any(query in text for text in texts), query


def test_addresses_are_reserved():
    """Every mail address and host name in the example belongs to example.org."""
    texts = [*PAGES.values(), *(read(HARBOUR / name) for name in ("asked.jsonl", "golden.jsonl", "README.md"))]
    for text in texts:
        for host in re.findall(r"@([\w.-]+\w)", text) + re.findall(r"https?://([\w.-]+\w)", text):
            assert host == "example.org" or host.endswith(".example.org"), host
