"""Recall per type on the labelled chat sample and on presidio-research, several detectors in one run.

python benchmarks/redaction_recall.py [--data ../shared/data]
"""

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from builders.chat_sample import CUSTOMER_PATTERNS, PEOPLE, read_sample  # noqa: E402
from findback.model.settings import PrivacySettings  # noqa: E402
from findback.privacy.addresses import StreetRules  # noqa: E402
from findback.privacy.article_rules import find_as_article  # noqa: E402
from findback.privacy.evaluation import Score, evaluate  # noqa: E402
from findback.privacy.finding import Finding  # noqa: E402
from findback.privacy.key import Key  # noqa: E402
from findback.privacy.labelled import Label, Labelled  # noqa: E402
from findback.privacy.name_rules import NameRules  # noqa: E402
from findback.privacy.names import SpacyNames  # noqa: E402
from findback.privacy.presidio import ENTITIES, THRESHOLD, analyze, build_analyzer  # noqa: E402
from findback.privacy.roster import Roster  # noqa: E402
from findback.privacy.thread_redactor import JointRedactor  # noqa: E402

TYPES = {
    "STREET_ADDRESS": "ADDRESS",
    "CREDIT_CARD": "CARD",
    "EMAIL_ADDRESS": "EMAIL",
    "IBAN_CODE": "IBAN",
    "IP_ADDRESS": "IP",
    "PERSON": "PERSON",
    "PHONE_NUMBER": "PHONE",
    "US_SSN": "NATIONAL_ID",
}


def main() -> None:
    """Score every detector on every sample and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    options = parser.parse_args()
    engine = build_analyzer()

    def presidio(entities, threshold):
        return lambda texts: [
            [
                Finding(r.start, r.end, ENTITIES.get(r.entity_type, "OTHER"), "presidio")
                for r in analyze(engine, text, entities, threshold)
            ]
            for text in texts
        ]

    def ours(*detectors, people=PEOPLE):
        settings = PrivacySettings(customer_id_patterns=CUSTOMER_PATTERNS)
        return JointRedactor(Key(b"k" * 32), settings=settings, roster=Roster(people), detectors=detectors).find_all

    finders = {
        "articles": find_as_article,
        "Presidio, all entities": presidio(None, 0.0),
        f"Presidio, {len(ENTITIES)} entities at {THRESHOLD}": presidio(list(ENTITIES), THRESHOLD),
        "rules": ours(people=()),
        "rules + roster": ours(),
        "rules + roster + lists": ours(StreetRules(), NameRules()),
        "rules + roster + lists + model": ours(StreetRules(), SpacyNames()),
    }
    chat = ROOT / "tests" / "data" / "chat_labelled.jsonl"
    samples = {f"chat, {part}": read_sample(chat, part=part) for part in ("tuned", "held-out")}
    research = options.data / "presidio-research" / "synth_dataset_v2.json"
    if research.exists():
        samples["presidio-research"] = read_research(research)
        samples["presidio-research, lower case"] = [
            entry._replace(text=entry.text.lower()) if len(entry.text.lower()) == len(entry.text) else entry
            for entry in samples["presidio-research"]
        ]
    for name, sample in samples.items():
        print_table(name, sample, evaluate(finders, sample))


def read_research(path: Path) -> list[Labelled]:
    """Return the sentences with the types that are ours too."""
    return [
        Labelled(
            entry["full_text"],
            tuple(
                Label(span["start_position"], span["end_position"], TYPES[span["entity_type"]])
                for span in entry["spans"]
                if span["entity_type"] in TYPES
            ),
        )
        for entry in json.loads(path.read_text("utf-8"))
    ]


def print_table(name: str, sample: list[Labelled], scores: list[Score]) -> None:
    """Print shares fully covered with exact 95 % intervals; suggestions counted too behind the stroke."""
    technical = sum(entry.technical for entry in sample)
    print(f"\n## {name}: {len(sample)} texts, {technical} of them technical\n")
    print("| type (labels) | " + " | ".join(score.name for score in scores) + " |")
    print("|---" * (len(scores) + 1) + "|")
    for recall in scores[0].recalls:
        cells = [score.recall(recall.type, recall.kind) for score in scores]
        label = f"{recall.type}{'.' + recall.kind if recall.kind else ''} ({recall.labels})"
        print(f"| {label} | " + " | ".join(show(c.applied, c.either) for c in cells) + " |")
    print("| precision | " + " | ".join(show(score.precision) for score in scores) + " |")
    if technical:
        print("| technical altered | " + " | ".join(show(score.altered) for score in scores) + " |")
        print("| technical suggested only | " + " | ".join(show(score.suggested) for score in scores) + " |")


def show(estimate, either=None) -> str:
    """Return a share with its interval."""
    if estimate.value is None:
        return "-"
    interval = "" if estimate.low is None else f" [{estimate.low:.2f}, {estimate.high:.2f}]"
    more = "" if either is None or either.value == estimate.value else f" / {either.value:.3f}"
    return f"{estimate.value:.3f}{interval}{more}"


if __name__ == "__main__":
    main()
