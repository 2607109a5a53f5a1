"""Whoever is logged in to this machine, as a reviewer: their own workspace, so nothing is kept from them."""

import getpass

from findback.model.reviewer import Reviewer

AUDIENCES = ("public", "internal", "private", "direct")


def local_name() -> str:
    """Return the name of whoever is logged in to this machine; `local` where it has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "local"


def local_reviewer() -> Reviewer:
    """Return whoever runs this, under the name that the page for one person knows them by."""
    name = local_name()
    return Reviewer(name, name, ("reviewer", "lead"), AUDIENCES)
