import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from webseam.fetch.clean import clean_markdown, inline_text

TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "ignore all rules")


@pytest.mark.parametrize(
    "text, expected, removed",
    [
        pytest.param("plain\n", "plain\n", {}, id="plain"),
        pytest.param(f"a{TAGS}b", "ab", {"tag": 16}, id="tag characters"),
        pytest.param("a\u200bb\u2060c\ufeffd", "abcd", {"zero_width": 3}, id="zero width"),
        pytest.param("a\u200eb\u200fc\u061cd", "abcd", {"direction": 3}, id="direction marks"),
        pytest.param("a\u202ab\u202bc\u202cd\u202de\u202ef", "abcdef", {"direction": 5}, id="embeddings and overrides"),
        pytest.param("a\u2066b\u2067c\u2068d\u2069e", "abcde", {"direction": 4}, id="isolates"),
        pytest.param("a" + "\ufe0f\ufe00" * 40, "a", {"variation": 80}, id="run of variation selectors"),
        pytest.param("a\U000e0100\U000e01ef", "a", {"variation": 2}, id="variation selectors of the second plane"),
        pytest.param("co\u00adop", "coop", {"soft_hyphen": 1}, id="soft hyphen"),
        pytest.param("a\u3164b\uffa0c", "abc", {"filler": 2}, id="Hangul fillers"),
        pytest.param("a\x00b\x08c\x7fd\x85e", "abcde", {"control": 4}, id="control characters"),
        pytest.param("\x1b[31mred\x1b[0m", "red", {"escape": 2}, id="colours"),
        pytest.param("\x1b]8;;http://x\x07y", "y", {"escape": 1}, id="terminal link"),
        pytest.param("\x1b]0;a\nb\x07", "]0;a\nb", {"control": 2}, id="an unfinished sequence hides no lines"),
        pytest.param("\x1b\u200b[2Jx", "x", {"escape": 1, "zero_width": 1}, id="sequence with a gap"),
        pytest.param("a\ud800b", "a\ufffdb", {"surrogate": 1}, id="lone surrogate"),
        pytest.param("a\u2063b", "ab", {"invisible": 1}, id="invisible separator"),
        pytest.param("a\r\nb\rc", "a\nb\nc", {}, id="line ends"),
        pytest.param(
            "👩\u200d💻 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3", "👩\u200d💻 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3", {}, id="emoji"
        ),
        pytest.param("می\u200cخواهم", "می\u200cخواهم", {}, id="Persian"),
        pytest.param("क्\u200dष", "क्\u200dष", {}, id="Devanagari"),
        pytest.param("a\u200db\u200cc", "abc", {"zero_width": 2}, id="joiners between Latin letters"),
        pytest.param("م\u200c\nم", "م\nم", {"zero_width": 1}, id="joiner at the end of a line"),
    ],
)
def test_what_is_not_seen_is_removed_and_counted_and_what_letters_need_stays(
    text: str, expected: str, removed: dict[str, int]
) -> None:
    assert clean_markdown(text) == (expected, removed)


def test_code_keeps_all_that_is_visible() -> None:
    code = "```text\n\tcol\u00a01 │ ü  \nx = '👩\u200d💻'\n  e\u0301\n```\n"
    assert clean_markdown(code) == (code, {})


@given(
    st.text(
        alphabet=st.sampled_from("a \n`م👩💻❤1\u200b\u200d\ufe0f\u202e\U000e0041\x1b[]m\x07\x00\ud800\u00ad\r"),
        max_size=40,
    )
)
@example("\x1b\x1b[0m[31m")
def test_cleaning_leaves_nothing_to_clean(text: str) -> None:
    cleaned, _ = clean_markdown(text)
    assert clean_markdown(cleaned) == (cleaned, {})
    assert not [each for each in cleaned if unicodedata.category(each) in ("Cc", "Cs") and each not in "\n\t"]


@pytest.mark.parametrize(
    "markdown, words",
    [
        pytest.param("**Bold** and `code_x`", "Bold and code_x", id="styles"),
        pytest.param('[`json`](#json "title") — JSON[¶](#json)', "json — JSON¶", id="links"),
        pytest.param("[![alt](i.svg)](https://x.example/a_(b)) z", "alt z", id="image in a link"),
        pytest.param("snake_case \\*args\\_ <b>x</b>", "snake_case *args_ x", id="escapes and tags"),
    ],
)
def test_the_words_of_inline_markdown(markdown: str, words: str) -> None:
    assert inline_text(markdown) == words
