"""Run the benchmarks one after the other and print their tables: `make bench`."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BENCHMARKS = (
    ("Help page", "help_speed.py"),
    ("Scoring 10,000 queries × 1,000 results", "score_speed.py"),
    ("Scoring 1,000 queries × 100 results", "score_speed.py", "--queries", "1000", "--depth", "100", "--rounds", "15"),
    ("Mining 10 million search events", "sessionise.py"),
    ("Scanning a Slack export", "chat_scan.py"),
    ("Redaction", "redaction_speed.py"),
    ("Wording of 100,000 pairs of 2 kB", "audit_speed.py"),
    ("Asking a language model through a stated limit", "llm_pace.py"),
    ("A model writing about 500 documents, killed ten times", "generate_run.py"),
    ("What a retriever adds to a search", "retriever_overhead.py"),
    ("20 reviewers deciding 2,000 candidates", "review_load.py"),
)


def main() -> int:
    """Run everything; a benchmark that fails ends the run."""
    for title, script, *options in BENCHMARKS:
        print(f"\n## {title}\n", flush=True)
        done = subprocess.run([sys.executable, HERE / script, *options], check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
