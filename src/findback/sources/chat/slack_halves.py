"""A large Slack export read by two processes, every other channel each."""

import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from queue import Queue
from threading import Thread as Task
from typing import IO, Any, NamedTuple

from findback.errors import Fault, FindbackError, StorageError
from findback.model.thread import Person, Thread
from findback.sources.archive import open_archive
from findback.sources.chat.slack_index import Channel, read_index
from findback.sources.chat.slack_reader import ExportReader
from findback.sources.faults import Faults
from findback.sources.format import Reading, SourceOptions

LARGE = 64_000_000
"""Bytes of day files from which a second process is worth its start."""
_AHEAD = 2
"""Channels the child may be ahead."""


class Batch(NamedTuple):
    """What the child read of one channel."""

    threads: list[Thread]
    skipped: dict[str, int]
    faults: list[Fault]
    broken: int
    """How many faults there were, those not kept included."""
    people: list[Person]
    """People whom only messages name."""


def is_large(reader: ExportReader, channels: list[Channel]) -> bool:
    """Return whether a second process is worth its start."""
    return len(channels) > 1 and sum(reader.archive.sizes[day] for channel in channels for day in channel.days) >= LARGE


def scan_in_halves(reader: ExportReader, channels: list[Channel]) -> Iterator[Thread]:
    """Yield the threads of all channels in order; a child process reads every second channel.

    Raises:
        StorageError: If the child cannot be started or dies.
        FindbackError: What the child met that ends the reading.
    """
    try:
        work = pickle.dumps((reader.archive.path, reader.options), protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError):
        # A caller's own screen may be anything; then this process reads everything.
        for channel in channels:
            yield from reader.scan(channel)
        return
    command = [sys.executable, "-P", "-m", "findback.sources.chat.slack_halves"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:  # noqa: S603 -- ourselves
        if child.stdin is None or child.stdout is None:
            raise StorageError("the second process that reads the export has no pipes")
        answers: Queue[Any] = Queue(_AHEAD)
        task = Task(target=_receive_all, args=(child.stdout, answers), daemon=True)
        try:
            child.stdin.write(work)
            child.stdin.close()
            task.start()
            for place, channel in enumerate(channels):
                if place % 2 == 0:
                    yield from reader.scan(channel)
                else:
                    yield from _take(reader, answers.get())
        except OSError as error:
            raise StorageError("the second process that reads the export cannot be used") from error
        finally:
            child.kill()
            while task.is_alive():
                # The task may wait for room to put down what nobody will take any more.
                while not answers.empty():
                    answers.get_nowait()
                task.join(0.01)


def _receive_all(pipe: IO[bytes], answers: "Queue[Any]") -> None:
    try:
        while True:
            answers.put(pickle.load(pipe))  # noqa: S301 -- from our own child only
    except (EOFError, OSError, ValueError, pickle.UnpicklingError):
        return
    finally:
        # Whatever ended it: who waits for an answer must get one.
        answers.put(StorageError("the second process that reads the export died"))


def _take(reader: ExportReader, answer: Any) -> Iterator[Thread]:
    if isinstance(answer, FindbackError):
        raise answer
    batch = Batch(*answer)
    for reason, count in batch.skipped.items():
        reader.reading.skipped.add(reason, count)
    for fault in batch.faults:
        reader.faults.add(*fault)
    reader.faults.count += batch.broken - len(batch.faults)
    for person in batch.people:
        if person.id not in reader.known:
            reader.known.add(person.id)
            reader.reading.people.append(person)
    yield from batch.threads


def serve(given: IO[bytes], answers: IO[bytes]) -> None:
    """Read every second channel of the export the parent names, and answer with one batch a channel."""
    path, options = pickle.load(given)  # noqa: S301 -- from our own parent only
    try:
        for batch in read_second_half(path, options):
            # As a bare tuple: run by itself, this module has another name than the parent knows it by.
            pickle.dump(tuple(batch), answers, protocol=pickle.HIGHEST_PROTOCOL)
            answers.flush()
    except FindbackError as error:
        pickle.dump(error, answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()
    except BrokenPipeError:
        return


def read_second_half(path: Path, options: SourceOptions) -> Iterator[Batch]:
    """Yield what every second channel of an export holds, in order."""
    with open_archive(path) as archive:
        index = read_index(archive, Faults())
        reader = ExportReader(archive, index, replace(options, processes=1), Reading(), Faults())
        for channel in reader.choose()[1::2]:
            before = len(reader.reading.people)
            reader.reading.skipped.counts.clear()
            reader.faults = Faults()
            threads = list(reader.scan(channel))
            people = reader.reading.people[before:]
            skipped = dict(reader.reading.skipped.counts)
            yield Batch(threads, skipped, reader.faults.found, reader.faults.count, people)


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
