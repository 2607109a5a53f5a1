"""What came back from a model, before anybody looked at it; and how a call can go wrong."""

from dataclasses import dataclass
from typing import NamedTuple

from findback.llm.ask import Usage


class Said(NamedTuple):
    """One answer as it came."""

    text: str
    usage: Usage
    cut: bool = False
    """Whether the token limit ended it."""
    refused: bool = False
    """Whether the model, or a filter in front of it, would not answer."""


@dataclass(frozen=True, slots=True)
class Failure:
    """How a call went wrong."""

    status: int | None = None
    """HTTP status; None where none came."""
    code: str = ""
    """The server's own word for it, such as `insufficient_quota`: lower case, short, without blanks."""
    message: str = ""
    """What the server said, in lower case; only searched, never shown: it may quote the question or the key."""
    retry_after: float | None = None
    """Seconds the server asks to wait."""
    connected: bool = True
    """False where no connection was made, so that nothing was sent."""
    slow: bool = False
    """Whether the time allowed had passed."""
    nonsense: bool = False
    """Whether something came that is no answer of this protocol."""


class CallFailedError(Exception):
    """A call went wrong; whoever called sorts it."""

    def __init__(self, failure: Failure) -> None:
        super().__init__("a call to a language model failed")
        self.failure = failure
