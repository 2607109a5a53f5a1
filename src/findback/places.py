"""The private folder: what lies in each part of it, and how it goes away."""

from typing import NamedTuple


class Place(NamedTuple):
    """A part of the private folder: what lies there and how it goes away."""

    content: str
    erased: str
    log: bool = False
    """Whether its files go by themselves once they are older than `[retention] logs`."""


PLACES = {
    "runs": Place(
        "results per question: document ids, scores, passages, latencies",
        "findback runs --remove; by themselves beyond 200",
    ),
    "evaluations": Place(
        "scores and comparisons with queries and titles of what was missed, and what a model wrote about documents, as "
        "reports show them",
        "by hand; texts that are withdrawn go by themselves",
    ),
    "snapshots": Place(
        "ids and text digests of the corpus, as it was last read and as of each release; of releases also digests of "
        "its words and of the runs of words of gold documents",
        "by hand; that of the last reading is made again when missing, those beyond ten releases go by themselves",
    ),
    "staleness": Place(
        "what the last findback refresh found: ids of cases and documents, and why, without a word of a question",
        "by the next findback refresh; by hand",
    ),
    "passages": Place("texts of the corpus, cut by the chunker", "by hand; made again when missing"),
    "indexes": Place("search indexes and vectors of the embedded retrievers", "by hand; made again when missing"),
    "workbench": Place(
        "candidates with their redacted threads, digests of what the people in them are called, decisions, a model's "
        "drafts of judgements, exclusions, tombstones, a list of what was erased in digests alone, the key of all "
        "digests, and copies of a file from before it was brought to a newer format",
        "findback purge and retention, which overwrites the bytes and takes the copies along",
    ),
    "answers": Place(
        "what language models answered, by a digest of what they were asked: texts about documents, choices, tokens "
        "and the time, never the question",
        "by themselves, 30 days after they were last used; findback purge, privacy exclude and withdraw empty it",
    ),
    "glossary": Place(
        "terms proposed for the glossary, with the ids of their questions, and pairs of words that were refused",
        "findback withdraw, with the case; the next findback glossary suggest; by hand",
    ),
    "mcp": Place(
        "searches of agents: redacted words, ids of what was found, digests of people named in the words",
        "by themselves, after [mcp] keep_days; findback purge and privacy exclude, where they name the person",
    ),
    "egress": Place("how many texts were sent to which endpoint: counts, never a text", "by hand"),
    "secrets": Place(
        "where secrets were found: file, offset and rule, never the secret",
        "by hand, once rotated; by themselves, after [retention] logs",
        log=True,
    ),
    "tmp": Place(
        "temporary files of programs that findback starts; results of jobs: ids and figures, no texts",
        "by themselves, a day after their last change",
    ),
}
"""Everything findback keeps privately, each in its folder of mode 0700 with files of mode 0600."""
