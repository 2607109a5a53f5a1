"""How a model came to write a candidate, in words for whoever reviews it."""

from findback.model.written import Fidelity, Written


def describe_written(written: Written) -> list[tuple[str, str]]:
    """Return what a reviewer should know about how a text came to be, each with its name."""
    facts = [
        ("by", written.model),
        ("on", f"{written.written_on.isoformat()}, attempt {written.attempt}"),
        ("prompt", written.prompt),
    ]
    if written.voice:
        facts.append(("voice", ", ".join(f"{name} {option}" for name, option in written.voice.items())))
    if written.document is not None:
        facts.append(("about", written.document))
        facts.append(("leak", "not measurable" if written.leak is None else f"{written.leak:.2f}"))
        if written.overlap is not None:
            facts.append(("overlap", f"{written.overlap:.2f}"))
    if written.fidelity is not None:
        facts.append(("judge", _judged(written.fidelity)))
    if written.matched is not None:
        facts.append(("follows", written.matched))
    return facts


def _judged(fidelity: Fidelity) -> str:
    said = f"chose the document {fidelity.source} of {fidelity.asked} times"
    if fidelity.none:
        said += f", none of them {fidelity.none}"
    others = ", ".join(f"{document} ({times})" for document, times in fidelity.others.items())
    if others:
        said += f"; it also named {others}"
    return f"{said}; it was the writer itself" if fidelity.self_judged else said
