"""Whatever happens in whatever order, the workbench and a model of it in plain Python agree."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders.candidates import NOON, candidate, digest, line
from findback.workbench.open import open_workbench
from findback.workbench.store import Workbench

PEOPLE = ("ana", "bo", "cy")
QUESTIONS = {f"q{n}": PEOPLE[n % 3] for n in range(5)}
CHANNELS = {name: "help" if n < 3 else "ops" for n, name in enumerate(QUESTIONS)}
REPLIES = ("ana", "bo", "cy", "bo")

reading = st.tuples(st.sampled_from(sorted(QUESTIONS)), st.sets(st.integers(0, len(REPLIES) - 1)))
steps = st.one_of(
    st.tuples(st.just("put"), st.lists(reading, max_size=6), st.integers(1, 3)),
    st.tuples(
        st.just("decide"), st.sampled_from(sorted(QUESTIONS)), st.sampled_from(["ready", "rejected", "in-review"])
    ),
    st.tuples(st.just("purge"), st.sampled_from(PEOPLE)),
    st.tuples(st.just("exclude"), st.sampled_from(PEOPLE)),
    st.tuples(st.just("purge-channel"), st.sampled_from(["help", "ops"])),
    st.tuples(st.just("purge-rejected")),
    st.tuples(st.just("sweep"), st.sampled_from([31, 91])),
)


class Model:
    """What must be stored: for each question its state, when it came to it, and who replied what."""

    def __init__(self) -> None:
        self.now = NOON
        self.stored: dict[str, tuple[str, object, frozenset[int]]] = {}
        self.gone: set[str] = set()
        self.people: set[str] = set()
        self.channels: set[str] = set()

    def put(self, readings: list[tuple[str, set[int]]]) -> None:
        for name, replies in readings:
            barred = QUESTIONS[name] in self.people or CHANNELS[name] in self.channels
            if name in self.gone or barred:
                continue
            said = frozenset(n for n in replies if REPLIES[n] not in self.people)
            state, since, known = self.stored.get(name, ("new", self.now, frozenset()))
            if state in ("new", "in-review"):
                self.stored[name] = (state, since, known | said)

    def erase(self, names: set[str], *, forever: bool) -> None:
        for name in names:
            self.stored.pop(name)
        if forever:
            self.gone |= names

    def drop_person(self, person: str, *, forever: bool) -> None:
        self.people.add(person)
        self.erase({name for name in self.stored if QUESTIONS[name] == person}, forever=forever)
        for name, (state, since, known) in self.stored.items():
            self.stored[name] = (state, since, frozenset(n for n in known if REPLIES[n] != person))


def build(name: str, replies: set[int]) -> object:
    lines = [line(f"{name}-{n}", REPLIES[n], f"reply {n} to {name}", n + 1) for n in sorted(replies)]
    return candidate(name, QUESTIONS[name], lines, container_hmac=digest(CHANNELS[name]))


def carry_out(workbench: Workbench, model: Model, step: tuple) -> None:
    match step:
        case ("put", readings, batch):
            counts = workbench.put([build(*one) for one in readings], now=model.now, batch=batch)
            assert counts.given == len(readings)
            model.put(readings)
        case ("decide", name, state):
            if (
                name in model.stored
                and model.stored[name][0] in ("new", "in-review")
                and model.stored[name][0] != state
            ):
                version = workbench.get(digest(name)).version
                workbench.decide(digest(name), state, reviewer="rev", version=version, now=model.now)
                model.stored[name] = (state, model.now, model.stored[name][2])
        case ("purge", person):
            workbench.purge(person_hmac=digest(person), now=model.now)
            model.drop_person(person, forever=True)
        case ("exclude", person):
            workbench.exclude("person", digest(person), now=model.now)
            model.drop_person(person, forever=False)
        case ("purge-channel", channel):
            workbench.purge(container_hmac=digest(channel), now=model.now)
            model.channels.add(channel)
            model.erase({name for name in model.stored if CHANNELS[name] == channel}, forever=True)
        case ("purge-rejected",):
            workbench.purge(rejected=True, now=model.now)
            model.erase({name for name, (state, *_) in model.stored.items() if state == "rejected"}, forever=True)
        case ("sweep", days):
            model.now += timedelta(days=days)
            workbench.sweep_retention(model.now)
            limit = {"new": 90, "in-review": 90, "rejected": 30}
            over = {
                name
                for name, (state, since, _) in model.stored.items()
                if state in limit and since <= model.now - timedelta(days=limit[state])
            }
            model.erase(over, forever=True)


def look(workbench: Workbench) -> dict[str, tuple[str, object, frozenset[str]]]:
    return {
        stored.candidate.key: (
            stored.state,
            stored.state_at,
            frozenset(one.body.text for one in stored.candidate.thread[1:]),
        )
        for stored in workbench.list_candidates()
    }


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model", numbered=True) / "empty.db"
    open_workbench(path, key_check="k").close()
    return path


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, min_size=1, max_size=9))
def test_any_sequence_ends_where_the_model_does(empty: Path, sequence: list[tuple]) -> None:
    """Nothing doubles, nothing erased comes back, nothing of others is lost, and a repeated put is still."""
    path = empty.with_name("work.db")
    for old in path.parent.glob("work.db*"):
        old.unlink()
    shutil.copyfile(empty, path)
    model = Model()
    with open_workbench(path, key_check="k") as workbench:
        for step in sequence:
            carry_out(workbench, model, step)
            expected = {
                digest(name): (state, since, frozenset(f"reply {n} to {name}" for n in known))
                for name, (state, since, known) in model.stored.items()
            }
            assert look(workbench) == expected
            if step[0] == "put":
                again = workbench.put([build(*one) for one in step[1]], now=model.now)
                assert (again.new, again.updated) == (0, 0)
                assert look(workbench) == expected
