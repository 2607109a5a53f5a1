"""What Harbour's exports promise: they are the same in every build, readable, and their truth holds."""

import csv
import json
import re
import subprocess
import sys
import zipfile
from collections import Counter
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from findback.corpus.open import open_corpus
from findback.model.settings import CorpusSettings
from findback.sources.chat import slack
from findback.sources.format import SourceOptions
from findback.sources.recognise import recognise
from findback.sources.scope import load_excluded
from findback.sources.tickets.zendesk import Zendesk
from findback.sources.traces import otel

REPOSITORY = Path(__file__).resolve().parent.parent
HARBOUR = REPOSITORY / "examples" / "harbour"
FILES = {
    "slack": "slack.zip",
    "zendesk": "zendesk.jsonl",
    "ubi": "ubi.ndjson",
    "otel": "traces.jsonl",
    "readthedocs": "readthedocs.csv",
}
OPTIONS = SourceOptions(exclude=load_excluded())


def run_build(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", str(HARBOUR / "exports" / "build.py"), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("harbour") / "exports"
    done = run_build(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def truth(built) -> list[dict]:
    return rows(built / "truth.jsonl")


@pytest.fixture(scope="module")
def planted(built) -> list[dict]:
    return rows(built / "planted.jsonl")


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def members(built: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(built / "slack.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def day_files(built: Path) -> dict[str, list[dict]]:
    return {name: json.loads(raw) for name, raw in members(built).items() if "/" in name}


def posts(built: Path) -> list[dict]:
    return [message for day in day_files(built).values() for message in day]


def whole(built: Path) -> str:
    """Everything that can be read in the exports, unescaped as their readers do it."""
    packed = [json.dumps(json.loads(raw), ensure_ascii=False) for raw in members(built).values()]
    plain = [(built / FILES[source]).read_text(encoding="utf-8") for source in FILES if source != "slack"]
    return "\n".join((*packed, *plain))


@cache
def repository_bytes() -> bytes:
    tops = [top for top in REPOSITORY.iterdir() if top.name == ".github" or top.name[0] not in "._"]
    files = [path for top in tops for path in (top.rglob("*") if top.is_dir() else (top,)) if path.is_file()]
    return b"\n".join(path.read_bytes() for path in sorted(files) if path.suffix != ".pyc")


def failed(entry: dict) -> bool:
    return entry["rule"] not in ("not a failure", "not read")


def test_build_is_the_same_every_time(built, tmp_path):
    """Two builds agree byte for byte, and only their owner may read them."""
    assert run_build(tmp_path / "again").returncode == 0
    names = sorted(path.name for path in built.iterdir())
    assert names == sorted((*FILES.values(), "truth.jsonl", "planted.jsonl"))
    for name in names:
        assert (built / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name
        assert (built / name).stat().st_mode & 0o077 == 0


def test_build_stays_out_of_the_repository():
    """A folder inside the repository is refused before anything is written."""
    folder = HARBOUR / "exports" / "out"
    done = run_build(folder)
    assert done.returncode == 2
    assert "outside" in done.stderr
    assert not folder.exists()


def test_more_others_than_failures(truth):
    """In the chat there are 60 failed searches and at least as many answered threads that are none."""
    chat = [entry for entry in truth if entry["source"] == "slack"]
    assert sum(map(failed, chat)) == 60
    assert sum(entry["rule"] == "not a failure" for entry in chat) == 67
    assert sum(entry["rule"] == "not read" for entry in chat) == 4
    why = Counter(entry["why"] for entry in chat if not failed(entry))
    assert min(why[kind] for kind in ("announcement discussed", "banter", "the asker’s own link")) >= 8
    assert min(why[kind] for kind in ("a bot’s link", "etiquette page")) >= 4


def test_every_source_has_both(truth):
    """Every export has at least nine failures, and cases beside them that are none."""
    for source in FILES:
        verdicts = Counter(failed(entry) for entry in truth if entry["source"] == source)
        assert min(verdicts[True], verdicts[False]) >= 9, source


def test_slack_export_has_what_real_ones_have(built):
    """Over 390 messages in eleven places: threads, bots, edits, broadcasts, cross-posts and both styles of mention."""
    messages = posts(built)
    said = [message for message in messages if message.get("subtype") != "channel_join"]
    assert len(said) > 390
    assert len({name.partition("/")[0] for name in day_files(built)}) == 11
    assert sum("reply_count" in message for message in said) > 100
    assert sum("edited" in message for message in said) > 10
    assert sum(message.get("subtype") == "thread_broadcast" for message in said) == 1
    assert sum("bot_id" in message for message in said) > 5
    assert sum("/archives/" in message["text"] for message in said) == 3
    mentions = [mention for message in said for mention in re.findall(r"<@U[^>]+>", message["text"])]
    assert {"|" in mention for mention in mentions} == {True, False}
    assert sum(not message["text"] and "blocks" in message for message in said) == 1
    assert sum("files" in message for message in said) == 4
    assert sum("attachments" in message for message in said) > 10


def test_day_files_are_cut_on_the_pacific_coast(built):
    """A day file begins at 08:00 UTC, from 8 March 2026 10:00 UTC on at 07:00, and some threads lie in two of them."""
    for name, day in day_files(built).items():
        for message in day:
            at = int(message["ts"].partition(".")[0])
            shifted = at - 3600 * (7 if at >= 1772964000 else 8)
            assert shifted // 86400 == _day_number(name[-15:-5]), name
    threads: dict[str, set[str]] = {}
    for name, day in day_files(built).items():
        for message in day:
            threads.setdefault(message.get("thread_ts", message["ts"]), set()).add(name)
    assert sum(len(names) > 1 for names in threads.values()) >= 5


def _day_number(day: str) -> int:
    return (date.fromisoformat(day) - date(1970, 1, 1)).days


@pytest.mark.parametrize("source", FILES)
def test_exports_are_recognised(built, source):
    """Every file is taken for what it is, without being told."""
    assert recognise(built / FILES[source]).name == source


def test_chat_truth_is_what_the_reader_reads(built, truth):
    """Every message of the truth is in the export with that text, and what is not to be read is not."""
    reading = slack.read(built / FILES["slack"], OPTIONS)
    texts = {
        f"{thread.container}:{message.id}": message.text for thread in reading.threads for message in thread.messages
    }
    for entry in truth:
        if entry["source"] == "slack":
            assert texts.get(entry["id"]) == (None if entry["rule"] == "not read" else entry["query"])
    assert {"direct messages", "private channels", "excluded channels"} <= set(reading.skipped.counts)
    assert reading.notes == []


def test_ticket_truth_is_what_the_reader_reads(built, truth):
    """Every ticket of the truth opens with that text; the one merged into another is left out."""
    reading = Zendesk().read(built / FILES["zendesk"], OPTIONS)
    opening = {thread.id: thread.messages[0].text.split() for thread in reading.threads}
    for entry in truth:
        if entry["source"] == "zendesk" and entry["why"] != "merged into another ticket":
            assert opening[entry["id"]] == entry["query"].split()
    assert reading.skipped.counts == {"internal notes": 1, "tickets merged into another": 1}


def test_search_truth_is_in_the_logs(built, truth):
    """Every search of the truth is a record of its log, by query id or by line."""
    ubi = {row["query_id"]: row["user_query"] for row in rows(built / FILES["ubi"]) if "action_name" not in row}
    with (built / FILES["readthedocs"]).open(encoding="utf-8", newline="") as file:
        docs = {str(number): row[1] for number, row in enumerate(csv.reader(file), start=1)}
    for entry in truth:
        if entry["source"] in ("ubi", "readthedocs"):
            assert (ubi if entry["source"] == "ubi" else docs)[entry["id"]] == entry["query"]


def test_turn_truth_is_what_the_reader_reads(built, truth):
    """Every turn of the truth has that wording, and all its searches say what they looked for."""
    reading = otel.read(built / FILES["otel"], OPTIONS)
    turns = {turn.id.partition(":")[0]: turn for turn in reading.turns}
    expected = {entry["id"]: entry["query"] for entry in truth if entry["source"] == "otel"}
    assert {identity: turn.text for identity, turn in turns.items()} == expected
    assert all(call.query and call.results is not None for turn in turns.values() for call in turn.calls)
    assert reading.skipped.counts == {}


def test_documents_of_the_truth_exist(truth):
    """Every document that the truth names is a page of the portal."""
    named = {document for entry in truth for document in entry["documents"]}
    assert all((HARBOUR / "docs" / document).is_file() for document in named)
    assert len(named) > 50


def test_links_lead_to_pages(built):
    """Every address of the portal in the exports, however it is spelled, is that of a page."""
    corpus = open_corpus(CorpusSettings(
        path="docs", base_url="https://portal.harbour.example.org/", aliases_from=("docs/_redirects",)
    ), base=HARBOUR)  # fmt: skip
    links = set(re.findall(r"https://portal\.harbour\.example\.org/[\w./?=#-]*\w/?", whole(built)))
    assert [link for link in sorted(links) if corpus.resolve(link) is None] == []
    for spelling in (r"/services/magpie/", r"\.md$", r"[^/]/$", r"\?ref=", r"#\w"):
        assert any(re.search(spelling, link) for link in links), spelling


def test_planted_secrets_are_nowhere_in_the_repository(built, planted):
    """Every planted secret is in the exports, no two are alike, and none is in the repository."""
    secrets = [entry["value"] for entry in planted if entry["type"] in ("SECRET", "IBAN")]
    assert len(secrets) == len(set(secrets)) >= 11
    text, kept = whole(built), repository_bytes()
    for secret in secrets:
        assert secret in text
        assert secret.encode() not in kept


def test_planted_personal_data_are_in_the_exports(built, planted):
    """All kinds of personal data are there, names of people on the roster and of others among them."""
    text = whole(built)
    assert [entry for entry in planted if entry["value"] not in text] == []
    kinds = Counter(entry["type"] for entry in planted)
    assert min(kinds[kind] for kind in ("PERSON", "PHONE", "EMAIL", "CUSTOMER_ID")) >= 5
    assert {entry["in_roster"] for entry in planted if entry["type"] == "PERSON"} == {True, False}


def test_questions_are_not_those_of_the_answer_key(truth):
    """No question in the exports is one of the answer key's."""
    golden = {row["query"].casefold() for row in rows(HARBOUR / "golden.jsonl")}
    assert not golden & {entry["query"].casefold() for entry in truth}


def test_addresses_are_reserved(built):
    """Every mail address belongs to example.org, and telephone numbers are from ranges set aside for fiction."""
    text = whole(built)
    for host in re.findall(r"[\w.]+@([\w.-]+\w)", text):
        assert host == "example.org" or host.endswith(".example.org"), host
    for number in re.findall(r"\+[\d][\d ]{8,}\d", text):
        assert number.startswith(("+44 20 7946 0", "+49 30 23125 ")), number
