"""What is not fit to be described is told by rule, in any language."""

import pytest

from findback.corpus.fitness import ENOUGH_WORDS, FEWEST_WORDS, Fitness, count_content_words, is_etiquette
from findback.model.document import Document

PROSE = (
    "The pump stops when the float sinks below the lower mark. Open the valve, wait until the tank has filled, "
    "then press the green button beside the meter. Should the lamp stay red, look for sand in the strainer and "
    "rinse it under running water before you try again."
)
GERMAN = (
    "Die Pumpe bleibt stehen, sobald der Schwimmer unter die untere Marke sinkt. Öffnen Sie das Ventil, warten Sie, "
    "bis der Behälter voll ist, und drücken Sie dann den grünen Knopf neben dem Zähler. Bleibt die Lampe rot, "
    "suchen Sie Sand im Sieb und spülen es unter fließendem Wasser aus."
)
JAPANESE = (
    "水位が下の印より低くなるとポンプは止まります。弁を開けて、タンクがいっぱいになるまで待ち、"
    "計器の横にある緑のボタンを押してください。赤い表示灯が消えないときは、こし器に砂がないか確かめ、"
    "流水で洗ってからもう一度試してください。"
)
LINKS = "\n".join(f"- [Chapter {word}]({word}.md)" for word in ("one", "two", "three", "four", "five"))


def unfit(text: str, *, name: str = "a.md", title: str | None = None, language: str | None = None) -> str | None:
    """Return why a page is not fit among ordinary ones."""
    page = Document(name, text, title, language=language)
    return Fitness([page, *(Document(f"other {at}", PROSE) for at in range(5))]).why_unfit(page)


@pytest.mark.parametrize(("language", "text"), [("en", PROSE), ("de", GERMAN), ("ja", JAPANESE)])
def test_ordinary_pages_are_fit(language: str, text: str) -> None:
    """A page of three sentences is fit in English, German and Japanese, whether the language is said or not."""
    assert unfit(text, language=language) is None
    assert unfit(text) is None


@pytest.mark.parametrize(
    ("language", "text"),
    [("en", "# Pump\n\nTo be written."), ("de", "# Pumpe\n\nFolgt noch."), ("ja", "# ポンプ\n\n準備中です。")],
)
def test_stubs_are_told(language: str, text: str) -> None:
    """A page that names a thing and says nothing about it is a stub in every language."""
    assert unfit(text, language=language) == "stub"


def test_what_a_stub_is_depends_on_the_corpus() -> None:
    """Nine words are a stub among manual pages and none among answers of one line; five and twenty never depend."""
    short = Document("short.md", "red green blue white black brown pink grey violet")
    pages = [Document(f"{at}.md", " ".join(f"word{at}x{n}" for n in range(60))) for at in range(5)]
    lines = [Document(f"{at}.md", " ".join(f"word{at}x{n}" for n in range(12))) for at in range(5)]
    assert Fitness([short, *pages]).fewest_words == 15
    assert Fitness([short, *pages]).why_unfit(short) == "stub"
    assert Fitness([short, *lines]).fewest_words == FEWEST_WORDS
    assert Fitness([short, *lines]).why_unfit(short) is None
    books = [Document(f"{at}.md", " ".join(f"word{at}x{n}" for n in range(900))) for at in range(5)]
    assert Fitness(books).fewest_words == ENOUGH_WORDS


def test_content_words_are_counted() -> None:
    """Function words and addresses do not count, repeats count once, and a pair of characters counts half."""
    assert count_content_words("The valve and the valve of a tank: https://example.org/spare-parts-list", "en") == 2
    assert count_content_words("返金額", "ja") == 1
    assert count_content_words("", None) == 0


@pytest.mark.parametrize(
    "text",
    [
        f"# Contents\n\nWhat there is:\n\n{LINKS}",
        "See https://example.org/a\n\nhttps://example.org/b\n\nhttps://example.org/c\n\nhttps://example.org/d",
        "1 Pumps ........ 3\n1.1 Floats ....... 5\n2 Valves ........ 9\n3 Lamps . . . . . . 12",
        "[[Pumpe]]\n[[Ventil|Das Ventil]]\n* [[Lampe]]\n",
        "`Pumps <pumps.html>`_\n`Valves <valves.html>`_\n`Lamps <lamps.html>`_\n",
        "- 水回り: [ポンプ](pump.md)、[弁](valve.md)\n- 電気: [表示灯](lamp.md)\n- 掃除: [こし器](strainer.md)",
        "Each in a line.\n\n" + "\n".join(f"- **Thing{at}**: what it is for." for at in range(30)),
    ],
)
def test_contents_pages_are_told(text: str) -> None:
    """Pages of links, of page numbers, and of nothing but a long list are tables of contents."""
    assert unfit(text) == "table of contents"


@pytest.mark.parametrize(
    "text",
    [
        f"{PROSE}\n\n## See also\n\n{LINKS}".replace("- [Chapter two]", f"{PROSE}\n\n{PROSE}\n\n- [Chapter two]"),
        "\n".join(f"{at}. {sentence}." for at, sentence in enumerate(PROSE.split("."), 1) if sentence),
        "\n".join(f"Then open [the {n} valve](v.md) and wait until the lamp beside it turns green." for n in "abcd"),
        f"{PROSE} It was made in 1998 ... or in 1999",
    ],
)
def test_pages_with_some_links_are_fit(text: str) -> None:
    """References below prose, the steps of a task and links within sentences make no table of contents."""
    assert unfit(text) is None


def test_repeated_lines_are_told() -> None:
    """A page half of whose lines stand there before is no page; one with a refrain is."""
    lines = [f"{at} the {part} of the pump" for at, part in enumerate(dict.fromkeys(PROSE.split()))]
    assert unfit("\n".join([*lines, *lines])) == "repeated lines"
    assert unfit("\n".join([*lines, lines[0]])) is None


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("wiki/Code_of_Conduct.md", None),
        ("p/17", "How to ask a good question"),
        ("p/18", "Verhaltenskodex"),
        ("p/19", "Code de conduite"),
        ("p/20", "質問の仕方"),
        ("https://example.org/netiquette/", None),
    ],
)
def test_etiquette_is_told_by_name(name: str, title: str | None) -> None:
    """Pages called like ones on how to ask or behave are etiquette, in several languages."""
    assert unfit(PROSE, name=name, title=title) == "etiquette"


def test_similar_names_are_no_etiquette() -> None:
    """A page that has more in its title than such a name is about something."""
    assert not is_etiquette(Document("supplier-code-of-conduct-audit.md", PROSE, "Audits of the code of conduct"))
    assert not is_etiquette(Document("ask.md", PROSE, "How to ask for a refund"))


def test_ids_and_globs_listed_as_not_knowledge_are_skipped() -> None:
    """What findback.toml lists answers nothing, by id or by pattern."""
    pages = [Document(name, PROSE) for name in ("meta/rules.md", "meta/about.md", "pump.md", "old/a/b.md")]
    fitness = Fitness(pages, ["pump.md", "meta/*"])
    assert [fitness.why_unfit(page) for page in pages] == [*["listed as not knowledge"] * 3, None]


def test_hostile_lines_are_looked_at_in_linear_time() -> None:
    """Lines made to slow patterns down are judged like others."""
    for part in ("[", "[a](", "[[", "`a<", ". ", "…", "http://", "!["):
        assert unfit(part * 20_000) in ("stub", "table of contents", None)
        assert unfit(f"{part * 20_000}\n1") in ("stub", "table of contents", None)
