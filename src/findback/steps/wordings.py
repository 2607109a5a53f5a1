"""The wordings a question may have, each with what it means."""

from findback.model.settings import ReviewSettings

MEANINGS = {
    "plain": "says what it wants in words the documents use",
    "vague": "says too little to tell what is wanted",
    "symptom-first": "describes what happens, not what causes it",
    "wrong-name": "calls the thing by an old, local or mistaken name",
}
"""What the wordings that findback ships mean."""


def list_wordings(settings: ReviewSettings) -> dict[str, str]:
    """Return every wording of a team and what it means: findback's, then its own."""
    return {**MEANINGS, **settings.wordings}
