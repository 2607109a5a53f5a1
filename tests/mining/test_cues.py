"""Cues in six languages, their vetoes, and what is not looked at."""

import time

import pytest

from findback.errors import SettingsError
from findback.mining.cues import LANGUAGES, SEEKING, Cues, load_cues, split_raw_words
from findback.mining.folding import fold, own_words

CUES = Cues()


def kinds(text: str) -> set[str]:
    return {cue.kind for cue in CUES.seek(fold(own_words(text)))}


@pytest.mark.parametrize(
    "text",
    [
        "I can’t find the runbook for failover",
        "cant find any docs on this",
        "could not locate a guide for the new gateway",
        "haven't found any documentation about retention",
        "search returns nothing for 'gateway'",
        "is there a doc on rotating keys",
        "do we have a runbook for this?",
        "any pointers to the onboarding page?",
        "anyone know where the font dir is",
        "where's the vpn guide?",
        "I googled and looked everywhere",
        "could have sworn there was a page",
        "Ich finde die Anleitung nirgends",
        "konnte ich in der Doku leider nicht finden",
        "Weiß jemand, wofür das ist",
        "wo finde ich die VPN-Seite?",
        "gibt es dazu irgendwo eine Anleitung?",
        "je ne trouve pas la doc du vpn",
        "j’ai beau chercher, rien".replace("chercher", "cherché"),
        "quelqu’un sait où est la page ?",
        "y a-t-il une doc pour le vpn ?",
        "no encuentro la documentación",
        "¿alguien sabe dónde está la guía?",
        "hay alguna guia para la vpn?",
        "não encontrei na documentação",
        "alguém sabe onde fica o manual?",
        "tem alguma doc sobre isso?",
        "ドキュメントが見つかりません",
        "検索してもヒットしません",
        "手順書はどこにありますか",
        "どなたかご存知の方いますか",
    ],
)
def test_people_who_look_for_something_are_heard(text: str):
    """Each of these says that its author looks for something."""
    assert kinds(text)


@pytest.mark.parametrize(
    "text",
    [
        "could not find artifact org.example:core",
        "cannot find symbol",
        "cabal: can't find source for Main",
        "I can't find a way to make it faster",
        "haven't found a better way",
        "didn't see anyone send you a link",
        "where do you host it",
        "this is where the work is being done",
        "I've been looking at it",
        "finde ich nicht gut",
        "je ne trouve pas la doc très claire",
        "nao acho que seja isso",
        "ファイルが見つかりません",
        "エラー: ページが見つかりませんでした",
        "`cannot find the docs page`",
        "> can't find the docs\nok",
        "```\nerror: can't find the docs page\n```",
        "see https://docs.example.org/cant-find-the-docs-page",
        "ERROR could not find page docs",
        "2026-09-01 09:00:00 can't find docs page",
    ],
)
def test_false_friends_are_not(text: str):
    """Compilers, opinions, progress, quotes, code, addresses and logs say nothing."""
    assert not kinds(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_cue_needs_is_in_every_text_it_matches(language: str):
    """A pattern never matches without one of its words, or the quick screen would lose it."""
    for cue in load_cues(language):
        if cue.kind in SEEKING:
            assert cue.needs
            assert all(need.isascii() == cue.spaced or not cue.spaced for need in cue.needs)


def test_each_language_has_every_kind():
    """No language lacks a kind of cue."""
    wanted = {
        "failed",
        "where",
        "doc",
        "searched",
        "absent",
        "thanks",
        "found",
        "announcement",
        "greeting",
        "asks",
        "request",
        "laughs",
        "meant",
    }
    assert {language: wanted - {cue.kind for cue in load_cues(language)} for language in LANGUAGES} == {
        language: set() for language in LANGUAGES
    }


@pytest.mark.parametrize(
    ("kind", "said", "not_said"),
    [
        ("request", "could somebody approve my change please", "could somebody tell me how to approve a change"),
        ("request", "hi all, please restart host 3", "please explain the restart"),
        ("request", "can someone review this?", "can someone connect to the gateway?"),
        ("request", "kann bitte jemand das konto entsperren?", "kann mir jemand sagen, wie man ein konto entsperrt"),
        ("request", "pouvez-vous relancer le build ?", "comment relancer le build ?"),
        ("request", "¿alguien puede aprobar el cambio?", "¿alguien puede decirme dónde se aprueba?"),
        ("request", "alguém pode reiniciar o servidor?", "como posso reiniciar o servidor?"),
        ("request", "サーバーを再起動してください", "再起動の方法を教えてください"),
        ("laughs", "hahaha", "the aha moment"),
        ("laughs", "lol no", "lollipop"),
        ("laughs", "mdr", "jajce"),
        ("laughs", "jajaja", "the new www page"),
        ("laughs", "kkkk", "see www.example.org"),
        ("laughs", "それは草", "a smile 🙂"),
        ("announcement", "today: two reviews", "today the build fails"),
        ("announcement", "heute: Abnahme", "heute geht nichts"),
        ("announcement", "recap of the outage", "summary is empty, why?"),
    ],
)
def test_what_people_do_besides_asking(kind: str, said: str, not_said: str):
    """Requests for something to be done, laughter and stand-ups are heard; questions about the same are not."""
    assert CUES.say(kind, fold(own_words(said))) is not None  # type: ignore[arg-type]
    assert CUES.say(kind, fold(own_words(not_said))) is None  # type: ignore[arg-type]


def test_a_team_can_switch_cues_and_languages_off():
    """A cue that is off is not heard; a name that is none is refused."""
    quiet = Cues(["en"], without=["en.who-knows", "en.where-is"])
    assert not quiet.seek("anyone know where the font dir is")
    assert not quiet.seek("ich finde die anleitung nirgends")
    with pytest.raises(SettingsError):
        Cues(["xx"])
    with pytest.raises(SettingsError):
        Cues(without=["en.nothing-like-it"])


@pytest.mark.parametrize(
    "piece",
    [
        "where is ",
        "can't find ",
        "konnte a ",
        "a",
        " ",
        "```",
        "探し",
        "is there a a a ",
        "not sure, ",
        "(",
        "no ",
        "!",
        "hi, ",
        "ha",
        "bitte a ",
        "please ",
        "\n",
    ],
)
def test_no_text_makes_matching_slow(piece: str):
    """A long text of one piece is looked through in a moment, whatever the piece."""
    text = piece * (60_000 // len(piece))
    started = time.process_time()
    folded = fold(own_words(text))
    CUES.seek(folded)
    for kind in ("thanks", "announcement", "greeting", "asks", "request", "laughs", "absent", "meant"):
        CUES.say(kind, folded)
    assert time.process_time() - started < 2


def test_words_are_cut_alike_everywhere():
    """The quick screen and the cues cut words the same way."""
    assert split_raw_words("Where's the (VPN) guide?") == [b"where", b"s", b"the", b"vpn", b"guide"]
