"""How fast messages are redacted, beside Presidio's analyzer called once a message.

The sides take turns over the same messages in one process each; CPU time is what counts. Recall on the labelled
sample stands beside, since speed without it means nothing.

    python benchmarks/redaction_speed.py [--messages 5000] [--rounds 3]
"""

# ruff: noqa: PLC0415 - each side loads only what it needs
import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIDES = ("presidio", "rules", "redact", "model")
NAMES = {
    "presidio": "Presidio analyzer, one call a message, 10 entities (finds only)",
    "rules": "findback rules + roster (finds only)",
    "redact": "findback rules + roster, threads redacted, digests, checks",
    "model": "the same with lists and spaCy",
}


def main() -> None:
    """Let the sides take turns and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        print(json.dumps(run(options.side, options.messages)))
        return
    results: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
    for _ in range(options.rounds):
        for side in SIDES:
            command = [sys.executable, __file__, "--side", side, "--messages", str(options.messages)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            results[side].append(json.loads(done.stdout.strip().splitlines()[-1]))
    print("| | messages per CPU second | times Presidio | recall on the chat sample | peak memory, MB |")
    print("|---|---|---|---|---|")
    for side in SIDES:
        rate = statistics.median(result["rate"] for result in results[side])
        ratio = statistics.median(
            own["rate"] / other["rate"] for own, other in zip(results[side], results["presidio"], strict=True)
        )
        last = results[side][-1]
        print(f"| {NAMES[side]} | {rate:,.0f} | {ratio:.1f} | {last['recall']:.3f} | {last['memory']:.0f} |")


def run(side: str, count: int) -> dict[str, float]:
    """Return the rate, the recall and the memory of one side."""
    sys.path.insert(0, str(ROOT / "tests"))
    import resource

    from builders.chat_sample import CUSTOMER_PATTERNS, PEOPLE, read_sample
    from findback.model.protocols import RawText
    from findback.model.settings import PrivacySettings
    from findback.privacy.evaluation import evaluate
    from findback.privacy.finding import Finding
    from findback.privacy.key import Key
    from findback.privacy.roster import Roster
    from findback.privacy.thread_redactor import JointRedactor

    sample = read_sample(ROOT / "tests" / "data" / "chat_labelled.jsonl")
    messages = [entry.text for entry in sample] * (count // len(sample) + 1)
    messages = messages[:count]
    if side == "presidio":
        from findback.privacy.presidio import ENTITIES, THRESHOLD, analyze, build_analyzer

        engine = build_analyzer()

        def find(texts):
            return [
                [
                    Finding(r.start, r.end, ENTITIES[r.entity_type], "")
                    for r in analyze(engine, t, list(ENTITIES), THRESHOLD)
                ]
                for t in texts
            ]

        work = find
        messages = messages[: max(count // 5, 1)]
    else:
        detectors = ()
        if side == "model":
            from findback.privacy.names import SpacyNames

            detectors = (SpacyNames(),)
        settings = PrivacySettings(customer_id_patterns=CUSTOMER_PATTERNS)
        redactor = JointRedactor(Key(b"k" * 32), settings=settings, roster=Roster(PEOPLE), detectors=detectors)
        find = redactor.find_all

        def work(texts):
            if side == "rules":
                return find(texts)
            return [redactor.redact_all([RawText(t) for t in texts[at : at + 8]]) for at in range(0, len(texts), 8)]

    find([entry.text for entry in sample[:20]])
    started = time.process_time()
    work(messages)
    rate = len(messages) / (time.process_time() - started)
    (score,) = evaluate({side: find}, sample)
    whole = [recall for recall in score.recalls if not recall.kind]
    covered = sum((recall.applied.value or 0) * recall.labels for recall in whole)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"rate": rate, "recall": covered / sum(recall.labels for recall in whole), "memory": memory}


if __name__ == "__main__":
    main()
