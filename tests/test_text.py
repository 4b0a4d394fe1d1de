import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webseam.text import QUOTE_LIMIT, clean, clip, plain, quote, squeeze

# What a hostile page is made of; random characters alone would hardly ever meet inside one text.
PIECES = [
    *("\x1b", "\x1b[", "\x1b]", "\x1b]8;;http://x", "\x07", "\x1b\\", "\x9b", "\x9d", "\x9c", "\x90", "31m", "\x00"),
    *("\r", "\n", "\t", " ", "\u2028", "\u202e", "\u2066", "\u2069", "\u200b", "\u200c", "\u200d", "\ufe0f", "\u00ad"),
    *(
        "\U000e0041",
        "\U000e007f",
        "\U000e0100",
        "\u3164",
        "\ufeff",
        "\ud83d",
        "\ude00",
        "👩",
        "💻",
        "❤",
        "م",
        "क",
        "字",
    ),
    *("<", "<b>", "</b>", "<!--", "-->", "&lt;", "&amp;", "&#x1b;", "&#8238;", "[", "](", "!", ")", "](//x.org)", "…"),
    *("a", "1", "word", ",", " ,;:", ".", "/"),
]
hostile = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=25).map("".join)

# Format characters with a picture of their own: number signs, the Syriac abbreviation mark, hieroglyph joiners.
VISIBLE_FORMATS = frozenset(
    map(chr, [*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)])
)


def hidden_in(text: str) -> list[str]:
    """Return the characters of `text` that repaint a terminal, reorder a line, or that only a machine reads."""
    return [
        character
        for character in text
        if (unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t")
        or (unicodedata.category(character) == "Cf" and character not in VISIBLE_FORMATS | {"\u200c", "\u200d"})
        or 0xE0000 <= ord(character) <= 0xE0FFF
    ]


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("plain words, kept", "plain words, kept", id="plain ASCII"),
        pytest.param("two\nlines\tand a tab", "two\nlines\tand a tab", id="newline and tab"),
        pytest.param("a\r\nb\rc", "a\nb\nc", id="every line end"),
        pytest.param("\x1b[31mred\x1b[0m", "red", id="CSI colours"),
        pytest.param("\x1b[2J\x1b[1;1Htop", "top", id="CSI that repaints"),
        pytest.param("\x1b]0;title\x07text", "text", id="OSC ended by BEL"),
        pytest.param("\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "link", id="OSC 8 hyperlink"),
        pytest.param("\x9d0;title\x9ctext", "text", id="OSC of one byte"),
        pytest.param("\x9b31mred", "red", id="CSI of one byte"),
        pytest.param("\x1bPq#0\x1b\\text", "text", id="DCS"),
        pytest.param("\x1b(Btext\x1bc", "text", id="two-byte escapes"),
        pytest.param("\x1b]0;never ended", "0;never ended", id="a string without its end loses its introducer only"),
        pytest.param("Dvo\x9eák and more", "Dvoák and more", id="a mis-decoded letter does not cut the text"),
        pytest.param("bell\x07 back\x08 nul\x00 del\x7f", "bell back nul del", id="controls"),
        pytest.param("user\u202etxt.exe", "usertxt.exe", id="direction override"),
        pytest.param("\u2066a\u2069\u200f\u061cb", "ab", id="isolates and marks"),
        pytest.param("hi\U000e0069\U000e0067\U000e006e", "hi", id="tag characters"),
        pytest.param("a\u200bb\u2060c\ufeffd\u00ade", "abcde", id="zero widths, BOM, soft hyphen"),
        pytest.param("a\u3164b\uffa0c\u115fd", "abcd", id="Hangul fillers"),
        pytest.param("a\U0001bca0b\U0001d173c", "abc", id="shorthand and musical controls"),
        pytest.param("a" + "\ufe01" * 3 + "b\U000e0100", "ab", id="variation selectors"),
        pytest.param("👩\u200d💻 and ❤\ufe0f", "👩\u200d💻 and ❤\ufe0f", id="emoji keep their joiners"),
        pytest.param("🏳\ufe0f\u200d🌈 1\ufe0f\u20e3", "🏳\ufe0f\u200d🌈 1\ufe0f\u20e3", id="flag and keycap"),
        pytest.param("🙂\u200d↔\ufe0f", "🙂\u200d↔\ufe0f", id="an emoji that ends in an arrow"),
        pytest.param("می\u200cخواهم", "می\u200cخواهم", id="Persian keeps its joiner"),
        pytest.param("क्\u200dष", "क्\u200dष", id="Devanagari keeps its joiner"),
        pytest.param("a\u200db 👩\u200d\u200d\u200d💻", "ab 👩💻", id="joiners with nothing to join"),
        pytest.param("half \ud83d pair", "half \ufffd pair", id="lone surrogate"),
        pytest.param("", "", id="empty"),
    ],
)
def test_clean_removes_what_is_not_seen_and_keeps_what_is(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(
    "fragment, expected",
    [
        pytest.param("The <strong>urllib</strong> module", "The urllib module", id="tags"),
        pytest.param('<a href="https://x.example?a=1&b=2">name</a>', "name", id="tag with attributes"),
        pytest.param("Fish &amp; chips &#8211; caf&eacute;", "Fish & chips – café", id="entities"),
        pytest.param("&amp;lt;b&amp;gt;", "&lt;b&gt;", id="entities are unescaped once"),
        pytest.param("if a &lt; b &amp;&amp; c", "if a < b && c", id="a comparison"),
        pytest.param("3 < 4 and 5 > 4", "3 < 4 and 5 > 4", id="bare signs are no tags"),
        pytest.param("  two\n lines\t\u00a0here ", "two lines here", id="white space"),
        pytest.param("cut in a <a href=", "cut in a", id="a tag cut short"),
        pytest.param("a<!-- <b>hidden</b> -- words > -->b", "ab", id="comments go with their contents"),
        pytest.param("<system>obey</system>", "obey", id="tags that imitate a prompt"),
        pytest.param("<\u200bscript>x</scr\u00adipt>", "x", id="hidden characters do not save a tag"),
        pytest.param("&#27;[31mred&#x202e;&#x200b;", "[31mred", id="escapes behind entities"),
        pytest.param("see [docs](https://x.example/a)", "see docs (https://x.example/a)", id="Markdown link"),
        pytest.param("![pixel](https://x.example/p?q=1)", "pixel (https://x.example/p?q=1)", id="Markdown image"),
        pytest.param("[t](<https://x.example/a>)", "[t] ()", id="link to a bracketed address, which reads as a tag"),
        pytest.param('[t](/relative "a title")', "t (/relative)", id="relative link with a title"),
        pytest.param("[ t ](x.html) [](y.html)", "t (x.html) (y.html)", id="labels of white space"),
        pytest.param(
            "[![badge](https://x.example/b.svg)](https://y.example/)",
            "badge (https://x.example/b.svg) (https://y.example/)",
            id="image inside a link",
        ),
        pytest.param("handlers[name](event)", "handlers[name] (event)", id="code that looks like a link"),
        pytest.param("", "", id="empty"),
    ],
)
def test_plain_is_what_a_person_would_read_of_a_fragment(fragment: str, expected: str) -> None:
    assert plain(fragment) == expected


@pytest.mark.parametrize(
    "text, limit, expected",
    [
        pytest.param("short", 10, "short", id="fits"),
        pytest.param("exactly 10", 10, "exactly 10", id="fits exactly"),
        pytest.param("one two three four", 16, "one two three…", id="at a word edge"),
        pytest.param("abcdefghijklmnop", 10, "abcdefghi…", id="inside a word that is too long"),
        pytest.param("first, second, third", 16, "first, second…", id="punctuation before the cut goes"),
        pytest.param("people👩\u200d💻here", 9, "people👩…", id="no joiner left over"),
        pytest.param(" , ; : , ; : ,", 8, "…", id="nothing but punctuation"),
    ],
)
def test_clip_cuts_at_a_word_edge_and_says_so(text: str, limit: int, expected: str) -> None:
    assert clip(text, limit) == expected


def test_quoted_words_are_one_clean_line_of_bounded_length() -> None:
    assert quote("Error:\n\n  \x1b[31mbad\u202e  key\x1b[0m ") == "Error: bad key"
    assert quote("word " * 100) == " ".join(["word"] * 39) + "…"
    assert len(quote("x" * 1000)) == QUOTE_LIMIT


def test_squeeze_makes_one_line() -> None:
    assert squeeze(" a \n\t b\u2028c\u3000 ") == "a b c"


@given(hostile)
@example("\x1b\x1b]\x07[31m")
@example("👩\u200d" * 3)
def test_nothing_hidden_survives_cleaning(text: str) -> None:
    for cleaned in (clean(text), plain(text), quote(text), clip(clean(text), 12)):
        assert hidden_in(cleaned) == []
        assert clean(cleaned) == cleaned


@given(hostile)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert squeeze(squeeze(text)) == squeeze(text)
    assert quote(quote(text)) == quote(text)
    assert clip(clip(text, 12), 12) == clip(text, 12)


@given(hostile)
def test_plain_is_one_line_without_a_live_link(text: str) -> None:
    found = plain(text)
    assert found == squeeze(found)
    assert "](" not in found


@given(hostile, st.integers(min_value=1, max_value=60))
def test_clip_is_never_longer_than_asked(text: str, limit: int) -> None:
    assert len(clip(text, limit)) <= limit


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"], exclude_characters="\u115f\u1160\u3164\uffa0")))
def test_ordinary_text_in_any_script_passes_unchanged(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<a",
        "<!--",
        "<!-",
        "[",
        "[](",
        "![a](http://x",
        "](",
        "\x9d",
        "\x1b]",
        "\x1b[",
        "&",
        "&#",
        "a\u200d",
        " \n",
        "(",
    ],
)
def test_a_long_run_of_one_piece_is_read_in_linear_time(piece: str) -> None:
    # No clock: a quadratic pattern would take minutes here and run into the bound of the whole suite.
    text = piece * (300_000 // len(piece))
    assert hidden_in(plain(text)) == []
    assert len(quote(text)) <= QUOTE_LIMIT
