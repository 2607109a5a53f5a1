"""The process that converts PDF, Word, PowerPoint and Excel files for the reader of folders.

What such files hold is not to be trusted, so it is parsed here: with bounded memory and time, without network,
without other programs, and without a file it could write. A request and its answer are one line of JSON each.
"""

import json
import os
import sys
import zipfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

MEMORY = 2 << 30
"""Bytes of address space."""
SECONDS = 60
"""Processor seconds a document may take."""
UNPACKED = 500_000_000
"""Bytes a document may have when unpacked."""
LONGEST = 10_000_000
"""Characters of text a document may give."""

_FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "webbrowser.")
_ZIPPED = (".docx", ".pptx", ".xlsx")


def main() -> None:
    """Answer requests until there are none."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # What a library prints must not look like an answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    converters = _load()
    _bound()
    for line in requests:
        asked = json.loads(line)
        answers.write(json.dumps(_convert(Path(asked["path"]), asked["suffix"], converters)).encode() + b"\n")
        answers.flush()


def _load() -> dict[str, Any]:
    known: Any = import_module("markitdown.converters")
    return {
        ".pdf": known.PdfConverter(),
        ".docx": known.DocxConverter(),
        ".pptx": known.PptxConverter(),
        ".xlsx": known.XlsxConverter(),
    }


def _bound() -> None:
    with suppress(ImportError):
        import resource  # noqa: PLC0415 (not on Windows)

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.addaudithook(_refuse)


def _refuse(event: str, _arguments: Any) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(event)


def _convert(path: Path, suffix: str, converters: dict[str, Any]) -> dict[str, str | None]:
    try:
        _allow_time()
        with path.open("rb") as file:
            fault = _judge(file, suffix)
            if fault is not None:
                return {"fault": fault}
            result = _run(converters[suffix], file, suffix)
        text = result.markdown
        if len(text) > LONGEST:
            return {"fault": f"it gives more than {LONGEST:,} characters of text"}
        return {"text": text.encode("utf-8", "replace").decode(), "title": result.title}
    except MemoryError:
        return {"fault": f"it needs more than {MEMORY >> 30} GB of memory"}
    except RecursionError:
        return {"fault": "it is nested too deeply"}
    except Exception as error:  # noqa: BLE001 (whatever a parser trips over is a fault of the file)
        return {"fault": f"it cannot be read as {suffix.removeprefix('.')} ({type(error).__name__})"}


def _run(converter: Any, file: BinaryIO, suffix: str) -> Any:
    # Asked by itself, a converter loads no plug-in, fetches no address and guesses no other format.
    return converter.convert(file, import_module("markitdown").StreamInfo(extension=suffix))


def _allow_time() -> None:
    with suppress(ImportError):
        import resource  # noqa: PLC0415 (not on Windows)

        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(used.ru_utime + used.ru_stime) + SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _judge(file: BinaryIO, suffix: str) -> str | None:
    """Return why a file is not converted: it is not what its name says, or unpacks to too much."""
    head = file.read(1024)
    file.seek(0)
    if suffix == ".pdf":
        return None if b"%PDF-" in head else "it is no PDF"
    if suffix not in _ZIPPED or not zipfile.is_zipfile(file):
        return f"it is no {suffix.removeprefix('.')} file"
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    file.seek(0)
    return None if unpacked <= UNPACKED else f"it unpacks to more than {UNPACKED:,} bytes"


if __name__ == "__main__":
    main()
