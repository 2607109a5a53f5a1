"""A large Slack export read by child processes, which share its channels; this one makes threads of what they find."""

import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from queue import Queue
from threading import Thread as Task
from typing import IO, Any, NamedTuple

from findback.errors import Fault, FindbackError, StorageError
from findback.model.thread import Person, Thread
from findback.sources.chat.slack_index import Channel, read_index
from findback.sources.chat.slack_message import Conversation
from findback.sources.chat.slack_reader import ExportReader
from findback.sources.faults import Faults
from findback.sources.format import Reading
from findback.sources.opening import open_archive

LARGE = 64_000_000
"""Bytes of day files from which further processes are worth their start."""
_AHEAD = 2
"""Channels a child may be ahead."""


class Batch(NamedTuple):
    """What a child read of one channel."""

    conversations: list[Conversation]
    files: list[str]
    skipped: dict[str, int]
    faults: list[Fault]
    broken: int
    """How many faults there were, those not kept included."""
    people: list[Person]
    """People whom only messages name."""


def is_large(reader: ExportReader, channels: list[Channel]) -> bool:
    """Return whether further processes are worth their start."""
    return len(channels) > 1 and sum(reader.archive.sizes[day] for channel in channels for day in channel.days) >= LARGE


def scan_in_parts(reader: ExportReader, channels: list[Channel]) -> Iterator[Thread]:
    """Yield the threads of all channels in order, each channel read by the child whose turn it is.

    Raises:
        StorageError: If a child cannot be started or dies.
        FindbackError: What a child met that ends the reading.
    """
    parts = reader.options.processes
    try:
        work = [
            pickle.dumps((reader.archive.path, reader.options, part, parts), protocol=pickle.HIGHEST_PROTOCOL)
            for part in range(parts)
        ]
    except (pickle.PicklingError, AttributeError, TypeError):
        # A caller's own screen may be anything; then this process reads everything.
        for channel in channels:
            yield from reader.scan(channel)
        return
    with ExitStack() as children:
        answers = [children.enter_context(_start_child(given)) for given in work]
        for place, channel in enumerate(channels):
            batch = _take(reader, answers[place % parts].get())
            yield from reader.build(channel, batch.conversations, batch.files)


@contextmanager
def _start_child(work: bytes) -> Iterator["Queue[Any]"]:
    """Start a process that reads its share of the channels; give what it answers, and end it afterwards."""
    command = [sys.executable, "-P", "-m", "findback.sources.chat.slack_parts"]
    try:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 -- ourselves
    except OSError as error:
        raise StorageError("no further process can be started to read the export") from error
    answers: Queue[Any] = Queue(_AHEAD)
    task = Task(target=_receive_all, args=(child.stdout, answers), daemon=True)
    with child:
        try:
            task.start()
            _send(work, child.stdin)
            yield answers
        finally:
            child.kill()
            while task.is_alive():
                # The task may wait for room to put down what nobody will take any more.
                while not answers.empty():
                    answers.get_nowait()
                task.join(0.01)


def _send(work: bytes, pipe: IO[bytes] | None) -> None:
    # A child that died at once is noticed by what it does not answer.
    with suppress(BrokenPipeError):
        if pipe is not None:
            with pipe:
                pipe.write(work)


def _receive_all(pipe: IO[bytes], answers: "Queue[Any]") -> None:
    try:
        while True:
            answers.put(pickle.load(pipe))  # noqa: S301 -- from our own child only
    except (EOFError, OSError, ValueError, pickle.UnpicklingError):
        return
    finally:
        # Whatever ended it: who waits for an answer must get one.
        answers.put(StorageError("a process that reads the export died"))


def _take(reader: ExportReader, answer: Any) -> Batch:
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
    return batch


def serve(given: IO[bytes], answers: IO[bytes]) -> None:
    """Read the share of an export that the parent names, and answer with one batch a channel."""
    path, options, part, parts = pickle.load(given)  # noqa: S301 -- from our own parent only
    try:
        with open_archive(path) as archive:
            index = read_index(archive, Faults())
            reader = ExportReader(archive, index, replace(options, processes=1), Reading(), Faults())
            for channel in reader.choose()[part::parts]:
                # As a bare tuple: run by itself, this module has another name than the parent knows it by.
                pickle.dump(tuple(read_batch(reader, channel)), answers, protocol=pickle.HIGHEST_PROTOCOL)
                answers.flush()
    except FindbackError as error:
        pickle.dump(error, answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()
    except BrokenPipeError:
        return


def read_batch(reader: ExportReader, channel: Channel) -> Batch:
    """Return what one channel holds, and what was met on the way."""
    before = len(reader.reading.people)
    reader.reading.skipped.counts.clear()
    reader.faults = Faults()
    taken, files = reader.take(channel)
    conversations = list(taken)
    skipped = dict(reader.reading.skipped.counts)
    people = reader.reading.people[before:]
    return Batch(conversations, files, skipped, reader.faults.found, reader.faults.count, people)


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
