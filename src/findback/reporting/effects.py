"""Effects of factors laid out as a report."""

from collections.abc import Sequence

from findback.model.across import Effects, EffectSystem
from findback.model.effect import FactorEffect
from findback.reporting.blocks import Column, Facts, Points, Prose, Report, Section, Table
from findback.reporting.figures import NONE, count_cell, estimate_cell, spoken, text_cell, whole
from findback.reporting.makeup import chosen, makeup_blocks
from findback.reporting.verdict import list_names, name_pair

_AXES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)


def effects_report(result: Effects) -> Report:
    """Lay effects of factors out."""
    said = Prose(say_effects(result), "headline")
    sections = (
        Section("headline", "Headline", (said, Points(result.notes)) if result.notes else (said,)),
        Section("factors", "Effects", (effects_table(result.effects, ("gain",), result.label),)),
        Section(
            "exam",
            "What the exam is made of",
            (*makeup_blocks(result.set), Prose(f"How the cases were chosen: {chosen(result.set)}.")),
        ),
        Section("legend", "What the names mean", (Points(result.legend), _provenance(result))),
        Section("limits", "What this does not tell you", (Points(result.limits),)),
    )
    return Report("Effects of factors", result.set.heading, sections, result.workspace)


def say_effects(result: Effects) -> str:
    """Return which factors are shown to matter, and which are not."""
    shown, open_ = [], []
    for factor in dict.fromkeys(effect.factor for effect in result.effects):
        telling = [one for one in result.effects if one.factor == factor and _tells(one)]
        if telling:
            best = max(telling, key=lambda one: abs(one.gains[0].value or 0.0))
            gain = spoken(estimate_cell(best.gains[0], signed=True))
            shown.append(f"{factor} ({name_pair(best.first, best.second)} {gain})")
        else:
            open_.append(factor)
    said = [f"Shown to matter for {result.label}: {list_names(shown, 'and')}."] if shown else []
    if open_:
        said.append(f"No effect is shown of {list_names(open_, 'and')}.")
    return " ".join((*said, f"n {whole(result.n)}."))


def _tells(effect: FactorEffect) -> bool:
    low, high = effect.gains[0].low, effect.gains[0].high
    return low is not None and high is not None and (low > 0 or high < 0)


def effects_table(effects: Sequence[FactorEffect], sides: Sequence[str], label: str) -> Table:
    """Return effects on one set, or on two sides with what differs between them."""
    cells = [[estimate_cell(gain, signed=True) for gain in effect.gains] for effect in effects]
    reach = [cell.reach for row in cells for cell in row if cell.reach]
    widest = max((max(abs(one.low), abs(one.high)) for one in reach), default=1.0)
    end = next((mark for mark in _AXES if mark >= widest), 1.0)
    across = len(sides) > 1
    rows = tuple(
        (
            text_cell(effect.factor),
            text_cell(name_pair(effect.first, effect.second)),
            *gains,
            *((estimate_cell(effect.between, signed=True),) if across else ()),
            count_cell(effect.systems),
            text_cell(_remark(effect)),
        )
        for effect, gains in zip(effects, cells, strict=True)
    )
    columns = (
        Column("Factor", numeric=False, flexible=True),
        Column("levels", numeric=False, flexible=True),
        *(Column(side, bar=True) for side in sides),
        *((Column("between"),) if across else ()),
        Column("systems"),
        Column("compared", numeric=False, flexible=True),
    )
    title = f"{label}, first level minus second, 95 % intervals that hold together"
    return Table(title, columns, rows, axis=(-end, end))


def _remark(effect: FactorEffect) -> str:
    if effect.confounded:
        return f"means; {list_names(effect.confounded, 'and')} differ too"
    said = "means" if not effect.settings else f"like with like, {whole(effect.settings)}×"
    return f"{said}; differs between sides" if effect.differs else said


def _provenance(result: Effects) -> Facts:
    corpus = result.corpus or "none"
    if result.corpus_digest:
        corpus += f", {result.corpus_digest[:19]}"
    return Facts(
        (
            ("Made", result.made.strftime("%Y-%m-%d %H:%M UTC")),
            ("findback", result.findback),
            ("Workspace", result.workspace),
            ("Corpus", corpus),
            ("Seed", str(result.seed)),
            *((one.name, _say_system(one)) for one in result.systems),
        )
    )


def _say_system(one: EffectSystem) -> str:
    said = (one.kind, f"configuration {one.config_digest}" if one.config_digest else "", f"run {one.run or NONE}")
    return ", ".join(filter(None, said))
