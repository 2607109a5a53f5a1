"""The main job on the Harbour example: what `make demo` runs once everything is installed."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMANDS = (
    ("models", "pull", "minilm-l6"),
    ("mine", "{exports}/slack.zip"),
    ("mine", "{exports}/zendesk.jsonl"),
    ("mine", "{exports}/traces.jsonl"),
    ("mine", "{exports}/ubi.ndjson"),
    ("candidates", "list", "--limit", "10"),
    ("audit", "golden.jsonl", "--real", "asked.jsonl"),
    ("evaluate", "--set", "asked.jsonl", "--by", "wording", "--by", "answer"),
    ("report", "-o", "report.html"),
)


def main() -> int:
    """Run each command as a user would type it, and stop at the first that fails."""
    began = time.monotonic()
    findback = Path(sys.executable).parent / "findback"
    environment = {**os.environ, "COLUMNS": os.environ.get("COLUMNS", "100")}
    with tempfile.TemporaryDirectory(prefix="harbour-exports-") as exports:
        subprocess.run([sys.executable, HERE / "exports" / "build.py", exports], check=True)  # noqa: S603
        for command in COMMANDS:
            words = [word.format(exports=exports) for word in command]
            print(f"\n$ findback {' '.join(words)}", flush=True)
            done = subprocess.run([findback, *words], cwd=HERE, env=environment, check=False)  # noqa: S603
            if done.returncode:
                return done.returncode
    print(f"\nThe report is {HERE / 'report.html'}   ({time.monotonic() - began:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
