"""Write the glossary as other search systems, or agents, read it."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import PositiveInt

from findback.errors import UsageError
from findback.evalset.glossary import GLOSSARY
from findback.evalset.synonyms.elastic import write_elasticsearch, write_opensearch
from findback.evalset.synonyms.plain import write_json
from findback.evalset.synonyms.rules import Options, Rule, Written, gather_rules
from findback.evalset.synonyms.solr import write_solr
from findback.evalset.synonyms.tooltext import write_tool_description
from findback.evalset.synonyms.typesense import write_typesense
from findback.files import write_atomically
from findback.llm.budget import count_tokens
from findback.model.glossary import Exported
from findback.model.record import LOCAL_ONLY, Request
from findback.steps.opening import SetRequest, open_glossary
from findback.steps.targets import corpus_place, refuse_targets
from findback.workspace import Workspace

Target = Literal["elasticsearch", "opensearch", "solr", "typesense", "tool-description", "json"]
WRITERS: dict[Target, Callable[[Sequence[Rule], Options], Written]] = {
    "elasticsearch": write_elasticsearch,
    "opensearch": write_opensearch,
    "solr": write_solr,
    "typesense": write_typesense,
    "tool-description": partial(write_tool_description, count=count_tokens),
    "json": write_json,
}


class GlossaryExportRequest(Request):
    """Write the glossary as another search system, or an agent's tool, reads it."""

    for_: Target = "json"
    """Which system; a search tool's description for agents, or plain JSON."""
    tokens: PositiveInt = 400
    """Most tokens of a tool description."""
    language: str = "en"
    """ISO 639-1 code of the words, for stop words and stems."""
    output: Annotated[Path | None, LOCAL_ONLY] = None
    """File to write; printed when left out."""
    force: bool = False
    """Replace a file that is there already."""


def export(workspace: Workspace, request: GlossaryExportRequest) -> Exported:
    """Return the accepted terms in the form of another system, and write them where a file is named.

    Each rule keeps the words it looks for. What that system's analysis would lose or merge is in the warnings.

    Raises:
        MissingError: If no term was accepted yet.
        DataError: If the glossary has faults.
        UsageError: If it holds no term, none fits, or the file is there already or something else.
        StorageError: If the disk refuses.
    """
    glossary = open_glossary(workspace)
    if not glossary.terms:
        raise UsageError(f"{GLOSSARY} holds no term yet", hint="findback glossary suggest, then accept")
    if request.output is not None:
        refuse_targets(
            workspace,
            (request.output,),
            read=(workspace.evalset / GLOSSARY,),
            corpus=corpus_place(workspace, SetRequest()),
            replace=request.force,
        )
    written = WRITERS[request.for_](gather_rules(glossary.terms), Options(request.language, request.tokens))
    if request.output is not None:
        write_atomically(request.output, written.text)
    return Exported(
        target=request.for_,
        text=written.text,
        rules=written.rules,
        warnings=written.warnings,
        left_out=written.left_out,
    )
