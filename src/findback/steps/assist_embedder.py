"""The embedder by which questions are told alike, on this machine."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from findback.registry import load_module
from findback.retrievers.catalogue import find_model
from findback.workspace import Workspace, models_home

Vector = NDArray[np.float32]


class Embedding(NamedTuple):
    """Makes vectors of texts."""

    name: str
    embed: Callable[[str], Vector]
    """Returns the vector of a text, of length 1."""


def open_embedder(workspace: Workspace, model: str) -> Embedding:
    """Return an embedder; nothing leaves this machine.

    Args:
        workspace: What a folder is relative to.
        model: A name of the catalogue, or a folder with `model.onnx` and `tokenizer.json`.

    Raises:
        MissingError: If the model is not there.
        MissingLibraryError: If the libraries that run it are not installed.
        RefusedError: If a file of the catalogue has other bytes than it must have.
    """
    module: Any = load_module("findback.retrievers.embedder", wanted_for="telling questions alike")
    folder = find_model(model, base=workspace.root, models=models_home(workspace.environment))
    embedder = module.Embedder(folder)
    return Embedding(model, lambda text: embedder.embed(text).text)
