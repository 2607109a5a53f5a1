"""The object in what a model said."""

import time
from typing import Annotated

import pytest
from pydantic import Field

from findback.llm.jsontext import find_answer
from findback.model.record import Record


class Choice(Record):
    """Which one."""

    choice: Annotated[int, Field(ge=0, le=8)]
    why: Annotated[str, Field(max_length=20)] = ""


@pytest.mark.parametrize(
    "text",
    [
        '{"choice": 3}',
        '```json\n{"choice": 3}\n```',
        'I think {it} is {"no": 1} rather {"choice": 3}, not {"choice": 4}.',
        '{"answer": {"choice": 3, "why": "fits"}}',
        '{"choice": 3, "confidence": 0.9}',
        '{"choice": "3"}',
        '{"choice": 9} no: {"choice": 3}',
        '\ufeff \n{\n  "choice"\n:\n3}',
    ],
)
def test_an_answer_is_found_in_whatever_is_around_it(text):
    """Fences, talk, wrappers, further keys and invalid objects before it do no harm."""
    assert find_answer(text, Choice).choice == 3


@pytest.mark.parametrize(
    "text", ["", "three", "{choice: 3}", '{"choice": 9}', '{"choice": 3', '["choice", 3]', '{"choice": null}', "{" * 9]
)
def test_no_answer_is_none(text):
    """What is no valid object of that kind is no answer, never a part of one."""
    assert find_answer(text, Choice) is None


def test_hostile_answers_end_soon():
    """Many braces and deep nesting neither crash nor keep anybody waiting."""
    began = time.process_time()
    for text in ("{" * 1_000_000, '{"a":' * 100_000, "[" * 100_000 + "{", '{"choice": 1e999}', '{"choice": NaN}'):
        assert find_answer(text, Choice) is None
    assert time.process_time() - began < 5
