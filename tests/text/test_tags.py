"""Tags and texts of HTML."""

from findback.text.tags import Token, decode_entities, read_attributes, read_tokens


def test_tokens_of_broken_html_are_what_stands_there():
    """Stray brackets are text, unclosed comments and scripts end with the source, names are lower case."""
    found = [
        (token.kind, token.value) for token in read_tokens("a < b<B x='>'>t</B><script>if (a<b)</s></SCRIPT><!-- x")
    ]
    assert found == [
        ("text", "a "),
        ("text", "<"),
        ("text", " b"),
        ("open", "b"),
        ("text", "t"),
        ("close", "b"),
        ("open", "script"),
        ("raw", "if (a<b)</s>"),
        ("close", "script"),
    ]


def test_attributes_are_decoded_and_quoting_is_optional():
    """Names fold, values keep their case, the last of a name counts."""
    token = Token("open", "a", " HREF=/X?a&amp;b title='it&#39;s' HREF=\"/Y\">")
    assert read_attributes(token) == {"href": "/Y", "title": "it's"}


def test_entities_are_decoded_once():
    """Named, decimal and hexadecimal ones; surrogates, NUL and numbers beyond Unicode become U+FFFD."""
    assert decode_entities("&amp;lt; &eacute; &#x20AC; &#0; &#xD800; &#x110000; &#99999999;") == (
        "&lt; é € \ufffd \ufffd \ufffd \ufffd"
    )
    assert decode_entities("plain & simple") == "plain & simple"
