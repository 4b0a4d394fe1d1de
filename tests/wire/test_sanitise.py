"""Sanitising: what points at somebody is gone, what a parser reads is still there, a second time changes nothing."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire import NETWORKED, QUERY, Answer, Case, case, names
from tests.wire.fake import play
from tests.wire.invented import KEY
from tests.wire.leaks import Checker, own_domains
from tests.wire.sanitise import Sanitiser

SECRET = "tvly-Zq7Rk2Vx9Lm4Tn8Wb3Yc6"
OWN = ("service.io",)


def sanitiser(**more: Any) -> Sanitiser:
    return Sanitiser(secrets=[SECRET], own=OWN, queries=["my own question"], **more)


def said(text: str, name: str = "message", **more: Any) -> Any:
    """What becomes of a sentence of the service."""
    return sanitiser(**more).value({name: text}, contents=False)[name]


_SAID = [
    pytest.param(f"Key {SECRET} is not valid", f"Key {KEY} is not valid", id="key"),
    pytest.param(f"?api_key={SECRET.replace('-', '%2D')}&n=1", f"?api_key={KEY}&n=1", id="percent-encoded"),
    pytest.param(f"Basic {base64.b64encode(SECRET.encode() + b':').decode()}", f"Basic {KEY}", id="base64"),
    pytest.param("The key tvly-Zq7R**** is not valid", f"The key {KEY} is not valid", id="masked"),
    pytest.param("The key ending in 3Yc6 is not valid", f"The key ending in {KEY} is not valid", id="last-characters"),
    pytest.param("9b2f0c1e-5a77-4c1d-8f3e-2a6b9d0c4e51 failed", "00000000-0000-4000-8000-000000000001 failed", id="id"),
    pytest.param("Your IP 81.2.69.142, or 2a02:8108::7", "Your IP 192.0.2.1, or 2001:db8::1", id="addresses"),
    pytest.param("Ask jane.doe@corp.io or +49 30 90182015", "Ask someone@example.org or +1-555-0100", id="people"),
    pytest.param("Account 48213377 has no credits left", "Account 10000001 has no credits left", id="account-number"),
    pytest.param("for organization acme-corp: 5 requests", "for organization quis-erat: 5 requests", id="account"),
    pytest.param("organization rate-limit reached", "organization rate-limit reached", id="words-of-a-limit"),
    pytest.param("No results for my own question.", f"No results for {QUERY}.", id="query"),
    pytest.param("Too many requests. See https://docs.service.io/limits", None, id="own-words"),
]  # fmt: skip


@pytest.mark.parametrize("text, wanted", _SAID)
def test_a_service_s_words_stay_without_what_points_at_somebody(text: str, wanted: str | None) -> None:
    assert said(text) == (wanted or text)


def test_a_page_s_words_are_replaced_and_its_markup_dates_and_numbers_stay() -> None:
    page = {
        "type": "search_result",
        "title": "Learning <b>Python</b> &amp; more in 2026",
        "url": "https://docs.python.org/3/tutorial/index.html?utm_source=x",
        "host": "docs.python.org",
        "published": "2026-02-03T00:00:00.000Z",
        "age": "February 3, 2026",
        "score": 0.25,
        "author": None,
        "n": [1, True],
    }
    made = sanitiser().value(page, contents=True)
    words, host = made["title"].split(), made["host"]
    assert {name: made[name] for name in ("type", "published", "age", "score", "author", "n")} == {
        name: page[name] for name in ("type", "published", "age", "score", "author", "n")
    }
    assert [words[1][:3], words[1][-4:], words[2], words[-1]] == ["<b>", "</b>", "&amp;", "2026"]
    assert host.endswith(".example.org")
    assert made["url"].startswith(f"https://{host}/3/")
    assert not {"Learning", "Python", "python", "tutorial"} & set(json.dumps(made).replace("/", " ").split())


def test_the_same_is_replaced_by_the_same_everywhere_and_other_things_by_others() -> None:
    one = sanitiser()
    pages = [f"https://www.python.org/{name}" for name in ("a-page", "b-page", "c-page", "d-page", "a-page")]
    made = one.value({"first": pages, "id": "b3f1c2d4e5f6"}, contents=True)
    assert made["first"][0] == made["first"][4]
    assert len(set(made["first"])) == 4
    assert one.value({"text": "b3f1c2d4e5f6"}, contents=False)["text"] == made["id"]


def test_a_domain_rule_covers_afterwards_what_it_covered_before() -> None:
    one = sanitiser()
    rule, edu = one.rule("python.org/3"), one.rule("edu")
    urls = ["https://docs.python.org/3/library", "https://www.mit.edu/", "https://other.org/"]
    inside, university, other = one.value(urls, contents=True)
    host, path = rule.split("/")
    assert inside.split("/")[2].endswith(f".{host}")
    assert inside.split("/")[3] == path
    assert university.split("/")[2].endswith(f".{edu}")
    assert not other.split("/")[2].endswith((host, edu))


def test_a_name_learned_from_one_answer_is_replaced_in_the_sentence_of_another() -> None:
    one = sanitiser()
    one.learn_from({"account": {"name": "Wintermute", "plan": "free"}, "results": [{"name": "Python"}]})
    assert "Wintermute" not in said_by(one, "Wintermute has used 5 of 5 requests of Python, free")
    assert said_by(one, "Python is free") == "Python is free"


def said_by(one: Sanitiser, text: str) -> str:
    return str(one.value({"message": text}, contents=False)["message"])


def test_what_a_person_wants_hidden_is_hidden_and_a_field_to_be_kept_is_kept() -> None:
    one = sanitiser(hide=["Doe Enterprises"], keep=["verdict"])
    made = one.value({"verdict": "Doe Enterprises found it", "title": "Doe Enterprises"}, contents=True)
    assert made["verdict"].endswith(" found it")
    assert "Doe" not in json.dumps(made)


def test_an_age_becomes_the_day_it_was_so_that_the_case_does_not_age() -> None:
    made = sanitiser().value({"age": "3 days ago", "coarse": "2 weeks ago"}, contents=True)
    assert made["age"][:3].isalpha()
    assert made["age"][-4:].isdigit()
    assert made["coarse"] == "2 weeks ago"


_EVENTS = 'event: message\ndata: {"title": "Learning Python", "id": 1}\n\n'
_PAGE = (
    '<html><!-- Jane --><script>var a = 1</script><a class="result__a" '
    'href="//service.io/l/?uddg=https%3A%2F%2Fpython.org%2F3&amp;n=1">Learning Python</a>'
    '<input type="hidden" name="kl" value="wt-wt"></html>'
)


def test_event_streams_stay_event_streams() -> None:
    made = sanitiser().body(_EVENTS, contents=True)["text"]
    event, data, *rest = made.split("\n")
    assert (event, rest) == ("event: message", ["", ""])
    assert json.loads(data.removeprefix("data: ")) == {"title": json.loads(data[6:])["title"], "id": 1}
    assert "Python" not in made


def test_pages_keep_their_elements_and_classes() -> None:
    made = sanitiser().body(_PAGE, contents=True)["text"]
    assert made.startswith(
        '<html><!-- --><script></script><a class="result__a" href="//service.io/l/?uddg=https%3A%2F%2F'
    )
    assert made.endswith('</a><input type="hidden" name="kl" value="wt-wt"></html>')
    assert not any(word in made for word in ("Jane", "python", "Python", "var"))


# Every form there is: what was written by hand is sanitised like a live answer, and must come to the same.


@pytest.mark.parametrize(
    "provider, name",
    [pytest.param(one, name, id=f"{one}-{name}") for one in NETWORKED for name in names(one) if name.startswith("ok")],
)
async def test_a_sanitised_answer_comes_to_as_many_hits_of_the_same_form(provider: str, name: str) -> None:
    wire = case(provider, name)
    one = Sanitiser(own=own_domains(provider))
    rules = {option: [one.rule(rule) for rule in wire.search[option]] for option in _RULES if option in wire.search}
    answers = tuple(_sanitised(one, answer) for answer in wire.answers)
    made = Case(provider=provider, name=name, search={**wire.search, **rules}, settings=wire.settings, answers=answers)
    told, _ = await play(made)
    assert told.outcome.value == wire.expect["outcome"]
    assert [_form(hit) for hit in told.as_expected()["hits"]] == [_form(hit) for hit in wire.expect["hits"]]


_RULES = ("include_domains", "exclude_domains")


def _sanitised(one: Sanitiser, answer: Answer) -> Answer:
    status, headers, body = answer
    made = one.body(body.decode("utf-8", "replace"), contents=True)
    return status, headers, json.dumps(made["json"]).encode() if "json" in made else made["text"].encode()


def _form(hit: dict[str, Any]) -> dict[str, Any]:
    """What must stay of a hit: which fields it has, how many passages, and when it was published."""
    passages = len(hit.get("passages", ()))
    return {"fields": sorted(hit), "passages": passages, "published": hit.get("published")}


# Any document.

_PIECES = st.sampled_from(
    [
        *("https://www.python.org/3/library/", "python.org", "//x.io/a?b=c&d=https%3A%2F%2Freal.com%2Fa", "a@b.de"),
        *("81.2.69.142", "2a02::7", "<b>", "</b>", "<a href='http://q.com/x y'>", "&amp;", "3 days ago", "2026-02-03"),
        *("2026-02-03T00:00:00Z", "Title: x\nURL: https://a.com\n", '{"a": "b"}', "[1]", "***", KEY, SECRET),
        *("Bearer abcdef0123", "sk-abcdef0123456789abcd", "123456789012", "req_8Kf92Lm3", "b3f1c2d4e5f60718"),
        *("9b2f0c1e-5a77-4c1d-8f3e-2a6b9d0c4e51", "N/A", "account: Foo Bar", "organization acme-corp"),
        *(
            "+49 30 1234567",
            "<script>x</script>",
            "Ünï",
            "日本語のテキスト",
            "\u202e",
            "data:image/png;base64,AAAABBBB",
        ),
    ]
)
_TEXTS = st.tuples(st.lists(_PIECES | st.text(max_size=8), max_size=5), st.sampled_from([" ", "\n", ", ", " | "])).map(
    lambda drawn: drawn[1].join(drawn[0])
)
_NAMES = _TEXTS | st.sampled_from(
    "id requestId title url error message type user account name total date age email token language".split()
)
_DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**14), 10**14) | st.floats(allow_nan=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=8,
)


@given(_DOCUMENTS, st.booleans())
def test_sanitising_keeps_types_and_structure_and_a_second_time_changes_nothing(document: Any, contents: bool) -> None:
    one = sanitiser()
    made = one.value(document, contents=contents)
    assert _structure(made) == _structure(document)
    assert one.value(made, contents=contents) == made
    assert sanitiser().value(made, contents=contents) == made
    leaks = Checker(own=OWN, secrets=[SECRET]).document(made)
    assert [leak for leak in leaks if leak.what != "names an account"] == []  # there, a label would be a name


def _structure(value: Any) -> Any:
    """A document without its texts and whole numbers."""
    if isinstance(value, dict):
        return [_structure(inner) for inner in value.values()]
    if isinstance(value, list):
        return ["list", *map(_structure, value)]
    return type(value) if isinstance(value, str) or type(value) is int else value
