"""A text for agents, to stand in the description of their search tool."""

import json
from collections.abc import Callable, Sequence

from findback.errors import UsageError
from findback.evalset.synonyms.rules import Options, Rule, Written

_HEAD = "People say what stands on the left, the documents what stands on the right. Search for both.\n"
CountTokens = Callable[[str], int]


def write_tool_description(rules: Sequence[Rule], options: Options, *, count: CountTokens) -> Written:
    """Return the rules as lines, those with most clusters behind them first, as many as the tokens allow.

    Args:
        rules: The rules.
        options: How many tokens there may be.
        count: Says about how many tokens a text has.

    Raises:
        UsageError: If not even one rule fits.
    """
    ranked = sorted(rules, key=lambda rule: -rule.clusters)
    lines = [f"- {_quote(rule.when)}: {', '.join(map(_quote, rule.adds))}\n" for rule in ranked]
    kept = len(lines) if count(_join(lines, len(lines))) <= options.tokens else 0
    while kept < len(lines) and count(_join(lines, kept + 1)) <= options.tokens:
        kept += 1
    if not kept and lines:
        raise UsageError(
            f"no term fits into {options.tokens} tokens", hint=f"--tokens {count(_join(lines, 1))} holds the first"
        )
    left_out = tuple(f"{rule.when}: beyond {options.tokens} tokens" for rule in ranked[kept:])
    return Written(_join(lines, kept), kept, (), left_out)


def _join(lines: Sequence[str], kept: int) -> str:
    more = len(lines) - kept
    said = f"({more} further {'entry is' if more == 1 else 'entries are'} left out.)\n" if more else ""
    return _HEAD + "".join(lines[:kept]) + said


def _quote(term: str) -> str:
    return json.dumps(term, ensure_ascii=False)
