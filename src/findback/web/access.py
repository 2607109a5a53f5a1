"""Who may do what: the one table of routes and roles, and the one place that looks into it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import get_args

from findback.model.settings import RoleName

ROLES: tuple[RoleName, ...] = get_args(RoleName)

ANYONE = frozenset[RoleName]()
"""No login needed."""
MEMBER = frozenset(ROLES)
READERS = frozenset[RoleName]({"reporter", "reviewer", "lead"})
"""Who may see texts of the set: not those who guard privacy, nor those who run the page."""
REVIEWERS = frozenset[RoleName]({"reviewer", "lead"})
LEADS = frozenset[RoleName]({"lead"})
PRIVACY = frozenset[RoleName]({"privacy"})
ADMINS = frozenset[RoleName]({"admin"})

ACCESS: Mapping[str, frozenset[RoleName]] = MappingProxyType(
    {
        "health": ANYONE,
        "metrics": ANYONE,  # loopback or the metrics token, checked there
        "static": ANYONE,
        "enter": ANYONE,
        "login": ANYONE,
        "login_back": ANYONE,
        "logout": MEMBER,
        "home": MEMBER,
        "keys": MEMBER,
        "queue": REVIEWERS,
        "week": REVIEWERS,
        "next_item": REVIEWERS,
        "item": REVIEWERS,
        "item_document": REVIEWERS,
        "change_item": REVIEWERS,
        "show_original": REVIEWERS,
        "original": REVIEWERS,
        "ask_resolver": LEADS,
        "answer_ask": ANYONE,  # whoever holds the link; behind the login where there is one
        "give_answer": ANYONE,
        "flag_script": ANYONE,
        "make_flag": ANYONE,  # whoever has the public token, from the sites named; checked there
        "flag_status": ANYONE,  # whoever holds the link
        "flag_form": ANYONE,
        "send_flag": ANYONE,
        "flag_page": ANYONE,
        "cases": READERS,
        "case": READERS,
        "case_document": READERS,
        "change_case": LEADS,
        "flag_miss": REVIEWERS,
        "scores": READERS,
        "score_chart": READERS,
        "misses": READERS,
        "score_report": READERS,
        "start_scoring": LEADS,
        "gaps": READERS,
        "gaps_file": READERS,
        "start_gaps": LEADS,
        "glossary": READERS,
        "decide_terms": LEADS,
        "suggest_terms": LEADS,
        "releases": MEMBER,
        "release_diff": MEMBER,
        "start_diff": LEADS,
        "make_release": LEADS,
        "withdraw_case": LEADS,
        "agreement": LEADS,
        "jobs": REVIEWERS,
        "job": REVIEWERS,
        "cancel_job": REVIEWERS,
        "repeat_job": LEADS,
        "privacy": PRIVACY,
        "privacy_exclude": PRIVACY,
        "privacy_purge": PRIVACY,
        "cancel_erasure": PRIVACY,
        "tokens": ADMINS,
        "make_token": ADMINS,
        "revoke_token": ADMINS,
        "api_queue": REVIEWERS,
        "api_item": REVIEWERS,
        "api_save": REVIEWERS,
        "api_submit": REVIEWERS,
        "api_reject": REVIEWERS,
        "api_undo": REVIEWERS,
        "api_progress": REVIEWERS,
        "api_releases": MEMBER,
    }
)
"""Roles that may use each route, by the route's name. A route that is not here answers nobody."""

FROM_ELSEWHERE = frozenset({"make_flag", "send_flag"})
"""Routes that pages of other sites may send to: they check origin, token and how often themselves, and know nobody."""
MANY_ASK = frozenset({"health", "static", "flag_script", "flag_form", "flag_page", "flag_status"})
"""Open routes that a whole office behind one address may ask for at the same time."""


def may(roles: tuple[RoleName, ...], route: str) -> bool:
    """Return whether somebody with these roles may use a route that needs a login."""
    return bool(ACCESS.get(route, frozenset()) & set(roles))


def is_open(route: str) -> bool:
    """Return whether a route needs no login."""
    return ACCESS.get(route) == ANYONE
