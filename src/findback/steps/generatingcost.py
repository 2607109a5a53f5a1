"""What a run of generate is expected to cost, before the first call."""

from findback.llm.budget import count_tokens, estimate
from findback.model.bill import Estimate
from findback.steps.generatingplan import Means, Prepared
from findback.steps.writers import model_settings
from findback.workspace import Workspace
from findback.writing.calibration import SWAPS
from findback.writing.describe import ask_description
from findback.writing.fidelity import ask_choice, choose_others

LOOKED_AT = 50
"""Documents whose prompts are counted; the others are taken to be like them."""
TEXTS_EACH = 1.5
"""Texts expected for each question that is wanted: some are written again, some documents come from the reserve."""
WRITTEN = 120
"""Tokens of a description as it is answered."""
CHOSEN = 30
"""Tokens of a judge's answer."""
TYPICAL = "x" * 300
"""As long as what is judged."""


def expect_costs(workspace: Workspace, prepared: Prepared, means: Means) -> tuple[Estimate, ...]:
    """Return what each model is expected to cost, what is known already not counted."""
    plan, judgings = prepared.plan, prepared.judging.judgings
    looked = plan.sample.drawn[:LOOKED_AT]
    writes = judges = 0
    for document in looked:
        around = plan.around(document)
        voice = plan.voices.draw(document.id, plan.seed)
        told = ask_description(
            plan.prompts, document, voice, language=plan.language(document), examples=plan.tone(document)
        )
        writes += count_tokens(told.system, told.user)
        shown = (document, *choose_others(document, around.nearest, around.fellows, around.duplicates))
        asked = ask_choice(plan.prompts, TYPICAL, shown, state="document", item=document.id, attempt=1)
        judges += count_tokens(asked.system, asked.user)
    # No more questions can come than documents are fit.
    wanted = min(plan.n, len(plan.sample.drawn))
    texts = round(wanted * TEXTS_EACH)
    swaps = min(wanted, SWAPS)
    rows = [
        (means.writer.name, texts, writes, WRITTEN),
        (means.judge.name, (texts + swaps) * judgings, judges, CHOSEN),
    ]
    if prepared.judging.self_judged:
        (name, texts, writes, _), (_, judged, judges, _) = rows
        sent = (texts * writes + judged * judges) // len(looked)
        _, settings = model_settings(workspace, name)
        answered = texts * WRITTEN + judged * CHOSEN
        return (estimate(name, settings, calls=texts + judged, tokens_in=sent, tokens_out=answered),)
    return tuple(
        estimate(
            name,
            model_settings(workspace, name)[1],
            calls=calls,
            tokens_in=calls * tokens // len(looked),
            tokens_out=calls * answer,
        )
        for name, calls, tokens, answer in rows
    )
