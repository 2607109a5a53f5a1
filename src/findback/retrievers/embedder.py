"""Texts to vectors with an ONNX model: nothing pickled, no code of the model's own."""

from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from findback.errors import MissingError, SettingsError
from findback.files import sha256_of

MODEL_FILES = ("model.onnx", "tokenizer.json")
EMBEDDER_VERSION = 1
"""Raised when the same text and model would give other vectors."""

Vector = NDArray[np.float32]
Pooling = Literal["mean", "cls"]


class Embedded(NamedTuple):
    """One text as vectors of length 1."""

    text: Vector
    """One vector for the whole text."""
    tokens: NDArray[np.float32]
    """One row for each token that is not a mark of the model's own."""


class Embedder:
    """A folder with `model.onnx` and `tokenizer.json`.

    Texts go through one by one: on a processor a batch is slower, because short texts are padded to long ones.
    """

    def __init__(self, folder: Path, *, max_tokens: int = 256, pooling: Pooling = "mean") -> None:
        for name in MODEL_FILES:
            if not (folder / name).is_file():
                raise MissingError(
                    f"{folder} has no {name}", hint=f"a model is a folder with {' and '.join(MODEL_FILES)}"
                )
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._session: Any = onnxruntime.InferenceSession(
                str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # noqa: BLE001 (both libraries raise bare classes)
            raise SettingsError(
                f"{folder} holds no model that can be loaded: {type(error).__name__}",
                hint="pull or copy it again",
            ) from None
        # The file may carry fixed padding and a shorter limit from its training.
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)
        self._inputs = [entry.name for entry in self._session.get_inputs()]
        self._pooling = pooling
        unknown = sorted(set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids"})
        if unknown or len(self._session.get_outputs()[0].shape) != 3:
            raise SettingsError(
                f"{folder} is no text embedder of a known shape",
                hint="inputs: input_ids, attention_mask, token_type_ids; first output: a vector per token",
            )
        self.digest = digest_of_model(folder, max_tokens, pooling)
        """Digest of files and settings: equal digests give equal vectors."""

    def embed(self, text: str) -> Embedded:
        """Return the vectors of a text; what is longer than the limit is cut off."""
        encoded = self._tokenizer.encode(text)
        given = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        feed = {name: np.array([given[name]], dtype=np.int64) for name in self._inputs}
        states: NDArray[np.float32] = self._session.run(None, feed)[0][0].astype(np.float32, copy=False)
        pooled = states.mean(axis=0) if self._pooling == "mean" else states[0]
        own = np.array(encoded.special_tokens_mask, dtype=bool)
        return Embedded(_unit(pooled), _unit(states[~own]))


def digest_of_model(folder: Path, max_tokens: int, pooling: Pooling) -> str:
    """Return a digest of the model's files and of how it is used: 24 hexadecimal digits.

    Raises:
        MissingError: If a file is not there.
    """
    import hashlib  # noqa: PLC0415 (needed for this alone)

    missing = [name for name in MODEL_FILES if not (folder / name).is_file()]
    if missing:
        raise MissingError(
            f"{folder} has no {missing[0]}", hint=f"a model is a folder with {' and '.join(MODEL_FILES)}"
        )
    parts = [
        str(EMBEDDER_VERSION),
        str(max_tokens),
        pooling,
        *(sha256_of(folder / name) for name in MODEL_FILES),
    ]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:24]


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: NDArray[np.float32] = (vectors / np.maximum(norms, 1e-12)).astype(np.float32)
    return scaled
