"""What all site handlers have in common: which page is whose, what they ask, and how they write it down."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.fetch.sites.reading import EXAMPLES, answer, config, drive, to_markdown
from webseam.errors import Outcome, TransportError
from webseam.fetch.sites import every, find, get
from webseam.fetch.sites.base import MAX_REQUESTS, Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.comments import MAX_COMMENTS, Comment, flatten, write
from webseam.fetch.sites.guest import pieces
from webseam.fetch.sites.rfc_editor import write as write_rfc
from webseam.fetch.sites.value import Value, decode
from webseam.fetch.sites.writing import MAX_LINES, MAX_TEXT, Document, fenced, language_of
from webseam.fetch.types import Link, Reading
from webseam.schema import Setting


def document(base: str = "https://page.example/a/b") -> Document:
    return Document("", to_markdown, base=base)


def test_every_site_is_found_by_its_example() -> None:
    assert {name: (found.id if (found := find(url)) else None) for name, url in EXAMPLES.items()} == {
        name: name for name in EXAMPLES
    }


def test_ids_are_unique_and_every_site_says_what_it_is() -> None:
    sites = every()
    assert len({site.id for site in sites}) == len(sites)
    assert [site.id for site in sites if not (site.label and site.hosts and site.__doc__)] == []


def test_a_site_on_any_host_comes_last() -> None:
    assert every()[-1].id == "mastodon"


def test_an_enterprise_host_is_the_site_that_its_settings_say() -> None:
    url = "https://git.acme.example/acme/lantern/issues/12"
    assert find(url) is None
    found = find(url, {"github": ("git.acme.example",)})
    assert found is not None
    assert found.id == "github"


def test_the_settings_of_a_site_make_its_configuration() -> None:
    given = {"base_url": "https://git.acme.example/api/v3", "token": "secret-1", "hosts": ["git.acme.example"]}

    def value(setting: Setting) -> Any:
        return given.get(setting.name, setting.default)

    site = get("github")
    assert site is not None
    made = site.configured(value, to_markdown)
    assert (made.base_url, made.token, made.hosts) == (given["base_url"], "secret-1", ("git.acme.example",))
    assert made.values == {"raw_url": "https://raw.githubusercontent.com"}
    assert "secret-1" not in repr(made)


def test_a_token_is_a_guarded_secret_and_no_address_may_be_set_by_a_project() -> None:
    for site in every():
        by_name = {setting.name: setting for setting in site.schema()}
        assert all(setting.guarded for name, setting in by_name.items() if name.endswith("url") or name == "hosts")
        assert "token" not in by_name or (by_name["token"].secret and by_name["token"].guarded)


class Probe(Site):
    """Asks what the test tells it to."""

    id = "probe"
    label = "the probe"
    hosts = ("probe.example",)
    base_url = "https://api.example/v1"
    token_env = ("PROBE_TOKEN",)

    def __init__(self, *asked: Any) -> None:
        self.asked = asked

    def plan(self, place: Place) -> Plan | None:
        def steps(api: Api) -> Asked[Reading]:
            made = api.document("Probe")
            for options in self.asked:
                yield from api.optional(api.get("a b", "c/d", **options), "a part")
            made.add("\n".join(api.notes))
            return made.reading()

        return steps


URL = "https://probe.example/page"


def test_a_token_goes_to_the_api_and_nowhere_else() -> None:
    given = config("https://api.example/v1", token="secret-1")
    probe = Probe({}, {"root": "https://api.example/v10"}, {"root": "https://other.example"})
    _, sent = drive(probe, URL, given, lambda request: answer(200))
    assert [(request.url, dict(request.headers).get("Authorization"), request.secrets) for request in sent] == [
        ("https://api.example/v1/a%20b/c%2Fd", "Bearer secret-1", ("secret-1",)),
        ("https://api.example/v10/a%20b/c%2Fd", None, ()),
        ("https://other.example/a%20b/c%2Fd", None, ()),
    ]


@pytest.mark.parametrize(
    ("location", "note"),
    [
        ("https://elsewhere.example/x", "redirects to another origin: https://elsewhere.example"),
        ("https://api.example.evil.example/", "redirects to another origin: https://api.example.evil.example"),
        ("//elsewhere.example/x", "redirects to another origin: https://elsewhere.example"),
        ("https://[broken", "answered 302"),
        ("", "answered 302"),
    ],
)
def test_a_redirect_does_not_leave_the_api(location: str, note: str) -> None:
    given = config("https://api.example/v1", token="secret-1")
    reading, sent = drive(Probe({}), URL, given, lambda request: answer(302, location=location))
    assert reading is not None
    assert reading.notes == [f"without a part: the probe {note}"]
    assert len(sent) == 1


def test_a_page_costs_a_bounded_number_of_requests() -> None:
    reading, sent = drive(Probe(*[{}] * 9), URL, config("https://api.example"), lambda request: answer(200))
    assert len(sent) == MAX_REQUESTS
    assert reading is not None
    assert reading.notes == [f"without a part: more than {MAX_REQUESTS} requests for one page"] * (9 - MAX_REQUESTS)


def test_redirects_in_a_circle_end() -> None:
    def turn(request: Any) -> Any:
        return answer(301, location="https://api.example/1" if request.url.endswith("/2") else "https://api.example/2")

    _, sent = drive(Probe({}), URL, config("https://api.example"), turn)
    assert len(sent) == MAX_REQUESTS


def test_a_part_whose_request_failed_is_left_out() -> None:
    site = get("hugging-face")
    assert site is not None
    conversation = site.read(EXAMPLES["hugging-face"], config("https://api.example"))
    next(conversation)
    conversation.send(answer(200, b'{"id": "acme/lantern-small"}'))
    reset = TransportError("reset", outcome=Outcome.NETWORK, host="api.example", phase="body", kind="reset")
    with pytest.raises(StopIteration) as end:
        conversation.throw(reset)
    assert end.value.value.notes == ["without its card: reset"]


def test_a_page_whose_first_request_failed_is_a_failure() -> None:
    site = get("hugging-face")
    assert site is not None
    conversation = site.read(EXAMPLES["hugging-face"], config("https://api.example"))
    next(conversation)
    reset = TransportError("reset", outcome=Outcome.NETWORK, host="api.example", phase="body", kind="reset")
    with pytest.raises(TransportError):
        conversation.throw(reset)


@settings(max_examples=200)
@given(
    some.sampled_from(sorted({host for site in every() for host in site.hosts})),
    some.text(alphabet="abz019%2eEfF/.\\?#&=@:~-_ ü\t\n\x00[]", max_size=40),
)
def test_an_address_never_makes_a_request_that_climbs(host: str, rest: str) -> None:
    url = f"https://{host.replace('*', 'x.example')}/{rest}"
    site = find(url)
    if site is None:
        return
    conversation = site.read(url, config("https://api.example/v1"))
    try:
        request = next(conversation)
    except (StopIteration, SiteFailed):
        return
    assert request.url.startswith("https://api.example/v1/")
    assert not {".", "..", "%2e", "%2E%2E"} & set(request.url.partition("?")[0].split("/"))
    assert request.url.isascii()
    assert request.url.isprintable()


@pytest.mark.parametrize(
    "url",
    [
        "https://exa mple/",
        "https://[::1]/a",
        "https://[bad/a",
        "http://host:99999/a",
        "file:///etc/passwd",
        "https://user:secret@github.com/acme/lantern",
        "https://github.com/acme/..",
        "https://github.com/acme/%2E%2e",
        "https://github.com/acme/a%0ab",
        "",
    ],
)
def test_what_is_no_address_of_a_page_is_nobodys(url: str) -> None:
    assert find(url) is None


@pytest.mark.parametrize(
    ("raw", "line", "number", "date"),
    [
        ("  a\n b\u200b ", "a b", None, None),
        ("12", "12", 12, "1970-01-01T00:00:12Z"),
        (1_700_000_000, "1700000000", 1_700_000_000, "2023-11-14T22:13:20Z"),
        (1.5, "1.5", 1, "1970-01-01T00:00:01Z"),
        (True, "", None, None),
        (None, "", None, None),
        (float("inf"), "", None, None),
        (["a"], "", None, None),
        ("2024-01-02", "2024-01-02", None, "2024-01-02"),
        ("2024-01-02 10:11:12 UTC", "2024-01-02 10:11:12 UTC", None, "2024-01-02T10:11:12Z"),
        ("yesterday", "yesterday", None, None),
    ],
)
def test_a_value_is_what_it_can_be(raw: Any, line: str, number: int | None, date: str | None) -> None:
    value = Value(raw)
    assert (value.line, value.number, value.date) == (line, number, date)


def test_a_step_to_nowhere_is_empty() -> None:
    value = decode(b'{"a": [{"b": "\\ud800x\\r\\ny"}]}')
    assert value["a"][0]["b"].text == "\ufffdx\ny"
    assert [value["a"]["b"].text, value["z"][3]["y"].line, len(value["a"][9]), list(value["a"][0])] == ["", "", 0, []]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a <!-- hidden --> b", "a  b", id="comment"),
        pytest.param("a <!-- open", "a &lt;!-- open", id="comment without an end"),
        pytest.param("```\n<!-- kept -->\n```", "```\n<!-- kept -->\n```", id="comment in code"),
        pytest.param("```\nopen", "```\nopen\n```", id="code without an end"),
        pytest.param("~~~~\n~~~\nopen", "~~~~\n~~~\nopen\n~~~~", id="tildes without an end"),
        pytest.param("![a](b.png)", "[Image: a](https://page.example/a/b.png)", id="image"),
        pytest.param(
            "![a][ref]\n\n[ref]: b.png", "[Image: a][ref]\n\n[ref]: https://page.example/a/b.png", id="by name"
        ),
        pytest.param("[![x](https://c.example/b)](d)", "[x](https://page.example/a/d)", id="badge"),
        pytest.param('<img src="https://c.example/x" alt="y">', "[Image: y](https://c.example/x)", id="image tag"),
        pytest.param("<IMG onerror=x>", "[Image]", id="image tag without source"),
        pytest.param("[a](#b) [c](mailto:d@e) [f](//g/h)", "[a](#b) [c](mailto:d@e) [f](//g/h)", id="kept addresses"),
        pytest.param("`![a](b)` and ``[c](d)``", "`![a](b)` and ``[c](d)``", id="code in a line"),
        pytest.param("a  \r\nb\t\r\n", "a\nb", id="line ends"),
    ],
)
def test_what_people_wrote_is_a_guest(text: str, shown: str) -> None:
    made = document()
    made.markdown(text)
    assert made.reading().markdown == f"{shown}\n"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("a line\n" * 400_000, 7 * MAX_LINES - 1, id="lines"),
        pytest.param((("a" * 99) + "\n") * 7_000, MAX_TEXT - 1, id="characters"),
        pytest.param("a" * 700_000, MAX_TEXT, id="one line"),
    ],
)
def test_text_beyond_measure_is_cut_and_said_to_be(text: str, kept: int) -> None:
    made = document()
    made.markdown(text)
    made.markdown("nothing is left for this")
    reading = made.reading()
    assert len(reading.markdown) == kept + 1
    assert reading.notes == [f"cut after {kept:,} of {len(text):,} characters", "cut after 0 of 24 characters"]
    assert reading.truncated


def test_two_lists_in_a_row_stay_two() -> None:
    made = document()
    made.facts(("State", "open"), ("Nobody", None), ("Author", "ada"))
    made.facts(("More", 1))
    made.markdown("* one\n* two")
    assert made.reading().markdown == "- State: open\n- Author: ada\n- More: 1\n\n---\n\n* one\n* two\n"


def test_an_unclosed_block_of_one_comment_does_not_swallow_the_next() -> None:
    made = document()
    write(
        made, [Comment(author="a", body="```\nopen"), Comment(author="b", body="closed", date="2024-01-02T03:04:05Z")]
    )
    assert made.reading().markdown == "## Comments\n\n### 1. a\n\n```\nopen\n```\n\n### 2. b, 2024-01-02\n\nclosed\n"


def test_comments_are_bounded_and_the_rest_is_counted() -> None:
    made = document()
    assert write(made, (Comment(author="a", body="x") for _ in range(MAX_COMMENTS + 5)), one="reply") == MAX_COMMENTS
    reading = made.reading()
    assert reading.markdown.endswith("\n\n… 5 more replies\n")
    assert reading.truncated


def test_a_tree_without_end_is_bounded() -> None:
    endless = Value({"id": 1})
    found = list(
        flatten([endless], lambda node: [node], lambda node, parent: Comment(author="a", body="x", parent=parent))
    )
    assert len(found) == 51


def test_a_code_block_is_not_ended_by_what_is_in_it() -> None:
    assert fenced("a\n````\nb\n", "text") == "`````text\na\n````\nb\n`````"


@pytest.mark.parametrize(
    ("name", "language"),
    [("a/b.py", "python"), ("Dockerfile", "dockerfile"), ("x.toml", "toml"), ("x", ""), ("x.üb", ""), ("a.b c", "")],
)
def test_the_language_of_a_file_is_told_by_its_name(name: str, language: str) -> None:
    assert language_of(name) == language


def test_links_are_found_outside_code() -> None:
    text = "[a](https://x.example/a) https://x.example/b.\n```\nhttps://x.example/c\n```\n[a2](https://x.example/a)\n"
    text += "[b](https://x.example/app/(group)/page.tsx) [c](https://x.example/(open\n"
    made = document()
    made.markdown(text)
    assert made.reading().links == (
        Link(text="a", url="https://x.example/a"),
        Link(text="https://x.example/b", url="https://x.example/b"),
        Link(text="b", url="https://x.example/app/(group)/page.tsx"),
        Link(text="c", url="https://x.example/"),
    )


@settings(max_examples=100)
@given(
    some.lists(
        some.sampled_from(["<!--", "-->", "```", "~~~", "\n", "![a](", "[", "](", ")", "`", "<img", ">", "x", " "])
    )
)
def test_any_markdown_is_read_and_only_its_code_keeps_spaces_at_line_ends(parts: list[str]) -> None:
    made = document()
    made.markdown("".join(parts))
    markdown = made.reading().markdown
    assert markdown == "" or markdown.endswith("\n")
    prose = "".join(piece for is_code, piece in pieces(markdown) if not is_code)
    assert all(line == line.rstrip() for line in prose.split("\n"))


@settings(max_examples=100)
@given(
    some.lists(
        some.sampled_from(
            ["\f", "\n", "   text", "1.  Title", "   o  item", "+--+", "RFC 1 a 2000", "[Page 1]", "       x"]
        )
    )
)
def test_any_text_of_an_rfc_is_read(lines: list[str]) -> None:
    made = document()
    write_rfc(made, "\n".join(lines))
    assert isinstance(made.reading().markdown, str)
