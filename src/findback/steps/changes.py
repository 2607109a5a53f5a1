"""What changed in the corpus since findback last read it."""

from findback.corpus.corpus import Corpus
from findback.corpus.snapshot import Snapshot, compare_snapshots, load_snapshot, save_snapshot, take_snapshot
from findback.errors import DataError
from findback.steps.kept import now
from findback.workspace import Workspace

FILE = "corpus.jsonl"
SHOWN = 3
"""How many moved and removed documents a note names."""


def note_changes(workspace: Workspace, corpus: Corpus) -> tuple[str, ...]:
    """Return one sentence on what was added, changed, moved and removed, and remember the corpus as it is now.

    Returns:
        Nothing on the first reading, without findback.toml, and when nothing changed.

    Raises:
        StorageError: If the disk refuses.
    """
    if workspace.file is None:
        return ()
    file = workspace.private_part("snapshots") / FILE
    current = take_snapshot(corpus, now=now())
    try:
        before = load_snapshot(file) if file.is_file() else None
    except DataError:
        # A snapshot is made again when it cannot be read; nothing but one comparison is lost.
        before = None
    if before is not None and before.digest == current.digest:
        return ()
    save_snapshot(current, file)
    return () if before is None else (describe_changes(before, current),)


def describe_changes(before: Snapshot, current: Snapshot) -> str:
    """Return what changed between two snapshots in one sentence."""
    changes = compare_snapshots(before, current)
    counted = (
        (len(changes.added), "added"),
        (len(changes.changed), "changed"),
        (len(changes.moved), "moved"),
        (len(changes.removed), "removed"),
    )
    listed = ", ".join(f"{count:,} {what}" for count, what in counted if count)
    named = [f"{old} is now {new}" for old, new in changes.moved[:SHOWN]]
    named += [f"{name} is gone" for name in changes.removed[:SHOWN]]
    detail = f" ({'; '.join(named)})" if named else ""
    return f"documents since {before.taken:%Y-%m-%d %H:%M}: {listed}{detail}"
