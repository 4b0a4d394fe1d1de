from __future__ import annotations

import pytest

from webseam.local.tokens import ask, expand, expand_name, identifier, parts, pieces, stem


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        pytest.param("parse_qs", ("parse", "qs"), id="underscores"),
        pytest.param("HTTPServer", ("http", "server"), id="an-acronym-before-a-word"),
        pytest.param("NamedTemporaryFile", ("named", "temporary", "file"), id="camel-case"),
        pytest.param("b64encode", ("64", "encode"), id="digits-inside"),
        pytest.param("json", (), id="one-part-is-no-compound"),
        pytest.param("__init__", ("init",), id="dunder"),
    ],
)
def test_an_identifier_is_split_into_its_parts(word: str, expected: tuple[str, ...]) -> None:
    assert parts(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        pytest.param("getcwd", ("get", "cwd"), id="getcwd"),
        pytest.param("urlparse", ("url", "parse"), id="urlparse"),
        pytest.param("makedirs", ("make", "dirs"), id="makedirs"),
        pytest.param("startswith", ("starts", "with"), id="startswith"),
        pytest.param("kubernetes", (), id="unknown-words-stay-whole"),
        pytest.param("file", (), id="a-word-of-its-own"),
    ],
)
def test_words_run_together_are_taken_apart_only_when_all_of_them_are_known(
    word: str, expected: tuple[str, ...]
) -> None:
    assert pieces(word) == expected


def test_a_name_is_indexed_with_what_its_short_forms_stand_for() -> None:
    assert expand_name("os.getcwd") == "os getcwd get cwd current working directory"


def test_text_keeps_its_words_and_gains_the_parts_of_identifiers_once() -> None:
    assert expand("parse_qs or parse_qs") == "parse_qs or parse_qs parse qs"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("how do I copy a file?", ["copy", "file"], id="question-words-go"),
        pytest.param("Parse URL parse", ["parse", "url"], id="case-and-repeats-go"),
        pytest.param("how to", ["how", "to"], id="nothing-but-question-words-stay"),
        pytest.param("x" * 100 + " copy", ["copy"], id="what-is-too-long-for-a-word-goes"),
    ],
)
def test_a_question_is_reduced_to_the_words_that_matter(query: str, expected: list[str]) -> None:
    assert ask(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("parse_qs", "parse_qs", id="bare"),
        pytest.param("`json.loads()`", "json.loads", id="call-in-backticks"),
        pytest.param("Path#read_text", "Path.read_text", id="hash"),
        pytest.param("std::string", "std.string", id="colons"),
        pytest.param("os/path", "os.path", id="slash"),
        pytest.param("parse a url", None, id="several-words"),
        pytest.param("3.11", None, id="a-number"),
    ],
)
def test_a_query_that_is_an_identifier_is_known_as_one(query: str, expected: str | None) -> None:
    assert identifier(query) == expected


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("parse", "parsing", "parsed", "parser", "parses"), id="parse"),
        pytest.param(("copy", "copies"), id="copy"),
        pytest.param(("directory", "directories"), id="directory"),
        pytest.param(("run", "running"), id="run"),
        pytest.param(("file", "files"), id="file"),
    ],
)
def test_forms_of_one_word_have_one_stem(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1
