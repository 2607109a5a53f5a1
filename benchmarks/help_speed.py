"""How long the help page takes, beside other command lines of the field.

Every round starts each program once, in turn; the table gives medians and ratios to findback.

    python benchmarks/help_speed.py [--rounds 15]
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

PROGRAMS = ("findback", "llm", "ir_measures")


def main() -> None:
    """Let the programs take turns and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    folder = Path(sys.executable).parent
    there = [name for name in PROGRAMS if (folder / name).exists()]
    seconds: dict[str, list[float]] = {name: [] for name in there}
    for turn in range(options.rounds + 1):
        for name in there:
            began = time.perf_counter()
            subprocess.run([folder / name, "--help"], check=True, capture_output=True)
            if turn:  # the first start compiles bytecode
                seconds[name].append(time.perf_counter() - began)
    base = statistics.median(seconds["findback"])
    print("| `--help` | median, ms | times findback |")
    print("|---|---|---|")
    for name in there:
        median = statistics.median(seconds[name])
        print(f"| {name} | {median * 1000:.0f} | {median / base:.2f} |")
    for name in PROGRAMS:
        if name not in there:
            print(f"| {name} | not installed | |")


if __name__ == "__main__":
    main()
