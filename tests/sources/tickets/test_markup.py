"""Bodies to text with marks and links."""

import time

import pytest

from builders.tickets import adf, adf_link, adf_paragraph
from findback.model.hits import Span
from findback.model.thread import Link, Mark
from findback.sources.adf import read_adf
from findback.sources.mail import find_quotes
from findback.sources.markdown import read_markdown
from findback.sources.marked import Marked, drop_quoted, find_urls, read_plain, settle_marks
from findback.sources.markup import read_html
from findback.sources.wiki import read_wiki
from findback.text.tags import decode_entities


def marked_texts(marked: Marked) -> list[tuple[str, str, str | None]]:
    return [(mark.kind, marked.text[mark.span.start : mark.span.end], mark.value) for mark in marked.marks]


def test_html_is_laid_out_as_a_browser_does():
    """White space folds, blocks and <br> break lines, <pre> keeps its own, entities are decoded once."""
    marked = read_html("<div>a  b\n c<br><br>d</div>\n\n<p>&amp;lt; &#8217;</p><pre>x\n  y</pre><ul><li>1<li>2</ul>")
    assert marked.text == "a b c\n\nd\n&lt; ’\nx\n  y\n1\n2"
    assert marked_texts(marked) == [("code", "x\n  y", None)]


def test_html_links_people_mail_and_quotes_are_marked():
    """Each mark covers the words it is about; links come with label and address."""
    marked = read_html(
        '<p><at id="0">Bo Baker</at>, mail <a href="mailto:ida%40example.org?subject=x">Ida</a> or see '
        '<a href="https://kb.example.org/a?b=1&amp;c=2">the <b>page</b></a></p>'
        '<blockquote>said <a class="mention" href="/u/lee">@lee</a></blockquote>',
        mentions={"0": "U7"},
    )
    assert marked_texts(marked) == [
        ("user", "Bo Baker", "U7"),
        ("mail", "Ida", "ida@example.org"),
        ("link", "the page", "https://kb.example.org/a?b=1&c=2"),
        ("quote", "said ", None),
        ("user", "@lee", "lee"),
    ]
    assert marked.links == (Link("https://kb.example.org/a?b=1&c=2", label="the page"),)


def test_html_addresses_that_lead_to_no_page_are_no_links():
    """Scripts, anchors, mail and phone addresses are none; relative ones become whole with a base."""
    source = (
        '<a href="javascript:x()">a</a><a href="#top">b</a><a href="tel:1">c</a><a href="data:x">d</a>'
        '<a href="/kb/e">e</a><a href="f">f</a><a href="//kb.example.org/g">g</a>'
    )
    assert [link.url for link in read_html(source).links] == ["/kb/e", "https://kb.example.org/g"]
    whole = read_html(source, base_url="https://forum.example.org/t/1")
    assert [link.url for link in whole.links] == [
        "https://forum.example.org/kb/e",
        "https://forum.example.org/t/f",
        "https://kb.example.org/g",
    ]


def test_written_addresses_in_html_are_links_and_code_is_not():
    """A bare address counts; one inside code is a command, not a pointer."""
    marked = read_html("<p>see https://kb.example.org/vpn.</p><pre>curl https://api.example.org/x</pre>")
    assert [link.url for link in marked.links] == ["https://kb.example.org/vpn"]


@pytest.mark.parametrize(
    "below",
    [
        '<div class="gmail_quote">On 3 May Bo wrote:<blockquote>{}</blockquote></div>',
        '<blockquote type="cite">{}</blockquote>',
        '<div id="divRplyFwdMsg">From: Bo</div><div>{}</div>',
        '<div class="yahoo_quoted"><div>{}</div></div>',
        '<aside class="quote">{}</aside>',
        '<blockquote itemscope itemtype="http://schema.skype.com/Reply">{}</blockquote>',
    ],
)
def test_words_of_others_below_an_answer_are_quote_and_their_links_not_the_authors(below):
    """What a mail or forum program repeats is marked, and its link belongs to somebody else."""
    old = '<a href="https://kb.example.org/old">old</a>'
    marked = read_html(f'<div>Mine <a href="https://kb.example.org/mine">m</a></div>{below.format(old)}')
    assert [link.url for link in marked.links] == ["https://kb.example.org/mine"]
    old_at = marked.text.index("old")
    assert any(m.kind in ("quote", "link") and m.span.start <= old_at < m.span.end for m in marked.marks)
    assert marked.text.startswith("Mine m")


def test_a_quoted_document_in_a_forum_answer_keeps_its_link():
    """A plain <blockquote> quotes a page, so what it links is the answer's own pointer."""
    marked = read_html('<blockquote>text (<a href="https://kb.example.org/p">source</a>)</blockquote><p>so</p>')
    assert [link.url for link in marked.links] == ["https://kb.example.org/p"]


def test_html_leaves_out_what_is_not_shown():
    """Scripts, styles, comments and heads are no text; emoji are, other images only beside it."""
    marked = read_html(
        "<head><style>p{}</style></head><script>alert(1)</script><p>a<!-- c -->b"
        '<img class="emoji" alt=":smile:"><img alt="screenshot of the error" src="x"></p>'
    )
    assert (marked.text, marked.extras) == ("ab:smile:", ("screenshot of the error",))


@pytest.mark.parametrize(
    ("reader", "bomb"),
    [
        (read_html, "<div>" * 200_000),
        (read_html, "<blockquote><a href=x>" * 50_000),
        (read_html, "<a " * 300_000),
        (read_html, "<a href='" * 100_000),
        (read_html, "<" * 1_000_000),
        (read_html, "<!--" * 250_000),
        (read_html, "&#" * 500_000),
        (read_html, "&#" + "9" * 1_000_000 + ";"),
        (read_html, "<script>" * 120_000),
        (read_html, "https://" * 120_000),
        (read_html, "https://x.org/" + ")" * 900_000),
        (read_html, '<a class="mention" href="' + "/" * 15_000 + '">x' * 50),
        (read_markdown, "](" * 500_000),
        (read_markdown, "[a](" * 200_000),
        (read_markdown, "`" * 1_000_000),
        (read_markdown, "` `` ``` " * 100_000),
        (read_markdown, "@a" * 400_000),
        (read_markdown, "<!--" * 250_000),
        (read_markdown, "[" * 1_000_000),
        (read_wiki, "[a|" * 300_000),
        (read_wiki, "{code}" * 150_000),
        (read_wiki, "[~" * 400_000),
        (find_quotes, "On 1\n" * 200_000),
        (find_quotes, "x\n" + "regards\n\n\n" * 100_000),
        (find_quotes, "x\n" + "From:\n" * 200_000),
        (lambda text: read_plain(text, quotes=find_quotes(text)), "> https://a.example.org\nx\n" * 40_000),
    ],
)
def test_bombs_take_linear_time(reader, bomb):
    """A megabyte made to be slow is read within seconds."""
    started = time.process_time()
    reader(bomb)
    assert time.process_time() - started < 8


def test_time_grows_with_length_and_not_faster():
    """Four times the markup takes clearly less than sixteen times the time."""

    def seconds(count: int) -> float:
        source = '<blockquote><p>a <a href="https://kb.example.org/x">b</a> <code>c</code></p>' * count
        started = time.process_time()
        read_html(source)
        return time.process_time() - started

    seconds(500)
    small, large = max(seconds(4_000), 0.01), seconds(16_000)
    assert large < 9 * small


def test_character_numbers_without_end_are_no_crash():
    """Numbers that are no character become U+FFFD, however long; padded ones are decoded."""
    assert decode_entities("&#" + "9" * 5_000 + "; &#x" + "f" * 5_000 + "; &#0000065; &amp;") == "\ufffd \ufffd A &"


def test_markdown_stays_as_written():
    """Text comes back unchanged; links, code, quotes, mentions and template comments are marked."""
    source = (
        'Hi @ida-o and @acme/docs, see [the guide](docs/vpn.md "VPN") or <https://kb.example.org/a>\r\n'
        "`https://not.example.org` and ![shot](https://img.example.org/1.png)\n"
        "> old https://old.example.org\n"
        "<!-- describe https://template.example.org -->\n"
        "```\n@nobody https://code.example.org\n```\n"
    )
    marked = read_markdown(source)
    assert marked.text == source
    assert [(link.url, link.label) for link in marked.links] == [
        ("docs/vpn.md", "the guide"),
        ("https://kb.example.org/a", None),
        ("https://img.example.org/1.png", None),
    ]
    named = [entry for entry in marked_texts(marked) if entry[0] in ("user", "group")]
    assert named == [("user", "@ida-o", "ida-o"), ("group", "@acme/docs", "acme/docs")]
    quoted = "".join(text for kind, text, _ in marked_texts(marked) if kind == "quote")
    assert "old" in quoted
    assert "describe" in quoted


def test_mail_addresses_are_no_mentions():
    """The at sign of an address names nobody."""
    assert marked_texts(read_markdown("write to ida@example.org or a/@b")) == []


def test_adf_gives_text_people_and_links():
    """Paragraphs are lines, mentions carry the account, cards and link marks are links."""
    marked = read_adf(
        adf(
            adf_paragraph(
                {"type": "mention", "attrs": {"id": "5b:2", "text": "@Ben Sorel"}},
                " see ",
                adf_link("this", "https://kb.example.org/a"),
            ),
            {"type": "blockquote", "content": [adf_paragraph("old words")]},
            {"type": "codeBlock", "content": [{"type": "text", "text": "ls -l"}]},
            adf_paragraph(
                {"type": "inlineCard", "attrs": {"url": "https://kb.example.org/b"}}, {"type": "hardBreak"}, "end"
            ),
        )
    )
    assert marked.text == "@Ben Sorel see this\nold words\nls -l\nhttps://kb.example.org/b\nend"
    assert [link.url for link in marked.links] == ["https://kb.example.org/a", "https://kb.example.org/b"]
    assert marked_texts(marked)[:4] == [
        ("user", "@Ben Sorel", "5b:2"),
        ("link", "this", "https://kb.example.org/a"),
        ("quote", "old words", None),
        ("code", "ls -l", None),
    ]


def test_adf_of_any_shape_is_no_crash():
    """Nodes of the wrong type are passed over, depth is no recursion."""
    deep = {"type": "text", "text": "x"}
    for _ in range(50_000):
        deep = {"type": "blockquote", "content": [deep]}
    assert read_adf(deep).text == "x"
    assert (
        read_adf({"content": [None, 3, {"type": 4, "content": "no"}, {"type": "text", "text": 5, "marks": 6}]}).text
        == ""
    )
    assert (
        read_adf({"type": "text", "text": "y", "marks": [7, {"type": "link"}, {"type": "link", "attrs": 8}]}).text
        == "y"
    )


def test_wiki_markup_is_marked():
    """Older Jira texts keep their wording; people, links, code and quotes are marked."""
    source = (
        "[~accountid:5b:2] see [guide|https://kb.example.org/a|smart-link]\n"
        "{code:java}x https://c.example.org{code}\nbq. old"
    )
    marked = read_wiki(source)
    assert marked.text == source
    assert [(link.url, link.label) for link in marked.links] == [("https://kb.example.org/a", "guide")]
    assert [mark.kind for mark in marked.marks] == ["user", "link", "code", "quote"]
    assert marked.marks[0].value == "5b:2"


def test_marks_never_overlap():
    """Inner kinds cut outer ones; every character keeps the most telling mark."""
    given = [
        Mark(Span(0, 20), "quote"),
        Mark(Span(5, 15), "code"),
        Mark(Span(7, 9), "user", "u"),
        Mark(Span(7, 12), "link", "l"),
        Mark(Span(3, 3), "link", "empty"),
    ]
    settled = settle_marks(given)
    assert [(tuple(m.span), m.kind) for m in settled] == [
        ((0, 5), "quote"),
        ((5, 7), "code"),
        ((7, 9), "user"),
        ((9, 12), "link"),
        ((12, 15), "code"),
        ((15, 20), "quote"),
    ]


def test_addresses_end_where_a_reader_ends_them():
    """Closing punctuation is the sentence's; a bracket that was opened inside belongs to the address."""
    text = "(https://a.example.org/x_(y)) https://b.example.org/z?q=1, <https://c.example.org> HTTPS://d.example.org!"
    assert [mark.value for mark in find_urls(text)] == [
        "https://a.example.org/x_(y)",
        "https://b.example.org/z?q=1",
        "https://c.example.org",
        "HTTPS://d.example.org",
    ]


MINE = "The form does not open.\n"


@pytest.mark.parametrize(
    "theirs",
    [
        "On Fri, 3 May 2024 at 10:00, Bo Baker <bo@example.org> wrote:\n\nOld text\n",
        "On Fri, 3 May 2024 at 10:00, Bo Baker\n<bo@example.org> wrote:\nOld text\n",
        "Am 03.05.2024 um 10:00 schrieb Bo Baker:\nAlter Text\n",
        "Le 3 mai 2024 à 10:00, Bo Baker a écrit :\nVieux texte\n",
        "El 3 may 2024, a las 10:00, Bo escribió:\nTexto\n",
        "Em 3 de mai. de 2024, Bo escreveu:\nTexto\n",
        "-----Original Message-----\nFrom: Bo\n",
        "-------- Ursprüngliche Nachricht --------\nVon: Bo\n",
        "________________________________\nFrom: Bo\nSent: Friday\nTo: Ida\nSubject: form\n",
        "*Von:* Bo\n*Gesendet:* Freitag\n*An:* Ida\n*Betreff:* Formular\n",
        "##- Please type your reply above this line -##\nold\n",
        "-- \nIda Okafor\nExample Ltd\n",
        "Sent from my phone\n",
        "Mit freundlichen Grüßen\nIda Okafor\n",
        "Best regards,\n\nIda Okafor\n+44 20 7946 0000\n",
    ],
)
def test_earlier_mails_and_signatures_are_found(theirs):
    """Everything from the quoting line on is not the writer's wording; the text before it is."""
    assert find_quotes(MINE + theirs) == [Span(len(MINE), len(MINE + theirs))]


def test_answers_below_quoted_lines_stay_the_writers():
    """An attribution above `>` lines takes only itself and them, because people answer below."""
    mail = "Hi\nOn 3 May 2024, Bo wrote:\n> which one?\n\nThe second.\n"
    assert [mail[s.start : s.end] for s in find_quotes(mail)] == ["On 3 May 2024, Bo wrote:\n> which one?\n"]


@pytest.mark.parametrize(
    "mail",
    [
        "On 3 May 2024 Bo wrote:\nthe whole mail is forwarded\n",
        "I wrote: on the form of 2024\n",
        "Regards to all of you, where is the form of 2024?\n",
        "From: where do I get it?\nno headers follow\n",
        "-- not a signature\n",
        "x\ncheers\n" + "line\n" * 9,
    ],
)
def test_wording_that_only_looks_like_a_quote_stays(mail):
    """Nothing is taken where no text of the writer's own comes before, or where a mark is not one."""
    assert find_quotes(mail) == []


def test_links_in_quoted_mail_are_not_the_writers():
    """Marking further quotes takes their links away and nothing else."""
    text = "https://a.example.org\n> https://b.example.org\n"
    marked = drop_quoted(read_plain(text), find_quotes(text))
    assert marked.text == text
    assert [link.url for link in marked.links] == ["https://a.example.org"]
