import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.errors import Outcome, ProviderError
from webseam.net.message import Headers, Response
from webseam.providers.base import ProviderConfig, Reply
from webseam.providers.mcp_wire import answer, call, is_answer, nested_json, texts, tool_error

RESULT = {"content": [{"type": "text", "text": "found – ü"}]}
OURS = {"jsonrpc": "2.0", "id": 1, "result": RESULT}
OTHER = {"jsonrpc": "2.0", "id": 2, "result": {"content": "for somebody else"}}
PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
CALLS_US = {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}, "result": {}}


def reply(body: str | bytes, status: int = 200, **headers: str) -> Reply:
    fields = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    raw = body if isinstance(body, bytes) else body.encode()
    return Reply(Response(status, Headers(fields), "https://mcp.example/mcp", raw))


def stream(*messages: Any, end: str = "\n") -> str:
    """The messages as an event stream; text stands in the stream as it is."""
    events = [one if isinstance(one, str) else f"event: message{end}data: {json.dumps(one)}" for one in messages]
    return "".join(f"{event}{end}{end}" for event in events)


def test_a_call_is_one_bare_request_that_stops_at_its_answer() -> None:
    config = ProviderConfig(provider="one", base_url="https://mcp.example/", secrets=("s",))
    request = call(config, "/mcp", "search", {"query": "ü", "count": 3}, ("x-source", "webseam"))
    assert (request.method, request.url, request.secrets) == ("POST", "https://mcp.example/mcp", ("s",))
    assert request.headers == (
        ("Accept", "application/json, text/event-stream"),
        ("Content-Type", "application/json"),
        ("x-source", "webseam"),
    )
    assert json.loads(request.body) == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "ü", "count": 3}},
    }
    assert request.stop_at is is_answer


@pytest.mark.parametrize(
    "message, wanted",
    [
        pytest.param(OURS, True, id="result"),
        pytest.param({"jsonrpc": "2.0", "id": 1, "error": {"code": -1}}, True, id="error"),
        pytest.param([PROGRESS, OURS], True, id="in a list"),
        pytest.param(OTHER, False, id="another call"),
        pytest.param(PROGRESS, False, id="notification"),
        pytest.param(CALLS_US, False, id="a call of the server's"),
        pytest.param({"id": 1}, False, id="neither result nor error"),
        pytest.param("ping", False, id="text"),
        pytest.param(None, False, id="null"),
    ],
)
def test_reading_stops_at_the_answer_to_our_call_alone(message: Any, wanted: bool) -> None:
    assert is_answer(json.dumps(message)) is wanted


def test_reading_goes_on_over_what_is_no_json() -> None:
    assert [is_answer(data) for data in ("", "ping", "{", "NaN", "[" * 100_000)] == [False] * 5


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(json.dumps(OURS), id="object"),
        pytest.param(f"\r\n  {json.dumps(OURS)}\n", id="object among white space"),
        pytest.param(f"\ufeff{json.dumps(OURS)}", id="object with a BOM"),
        pytest.param(json.dumps([OTHER, PROGRESS, OURS, CALLS_US]), id="array"),
        pytest.param(stream(OURS), id="stream, LF"),
        pytest.param(stream(OURS, end="\r\n"), id="stream, CRLF"),
        pytest.param(stream(OURS, end="\r"), id="stream, CR"),
        pytest.param(f"\ufeff{stream(OURS)}", id="stream with a BOM"),
        pytest.param(f"data: {json.dumps(OURS)}", id="stream that ends without a blank line"),
        pytest.param(f"data:{json.dumps(OURS)}\n\n", id="no space after the colon"),
        pytest.param("\n\n" + stream(OURS), id="blank lines first"),
        pytest.param(stream(": ping", "retry: 10", "event: ping\ndata: ping", OURS), id="comments and other events"),
        pytest.param(stream(PROGRESS, OTHER, CALLS_US, OURS, PROGRESS, OTHER), id="notifications and foreign ids"),
        pytest.param(stream({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}, OURS), id="the last answer wins"),
        pytest.param(stream({"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}, OURS), id="a result after an error"),
        pytest.param(stream({"jsonrpc": "2.0", "id": None, "error": {"code": 1}}, OURS), id="an error for no call"),
        pytest.param(stream([PROGRESS, OURS]), id="array in an event"),
        pytest.param(
            stream('data: {"jsonrpc": "2.0", "id": 1,\ndata: "result": ' + json.dumps(RESULT) + "}"),
            id="data on two lines",
        ),
        pytest.param(stream("data: not json", 'data: {"id": 1', "data: [NaN]", OURS), id="events that are not JSON"),
    ],
)
def test_the_answer_is_found_in_whatever_form_it_comes(body: str) -> None:
    assert answer(reply(body)) == RESULT


@pytest.mark.parametrize(
    "body, outcome, detail",
    [
        pytest.param("", Outcome.BAD_RESPONSE, "it sent no answer to the call", id="nothing"),
        pytest.param("{}", Outcome.BAD_RESPONSE, "it sent no answer to the call", id="empty object"),
        pytest.param("[]", Outcome.BAD_RESPONSE, "it sent no answer to the call", id="empty array"),
        pytest.param(stream(PROGRESS, OTHER), Outcome.BAD_RESPONSE, "it sent no answer to the call", id="others only"),
        pytest.param("accepted", Outcome.BAD_RESPONSE, "it sent no answer to the call", id="words"),
        pytest.param(
            '{"id": 1, "result"',
            Outcome.BAD_RESPONSE,
            "its answer is not JSON: Expecting ':' delimiter: line 1 column 19 (char 18)",
            id="cut short",
        ),
        pytest.param("[" * 100_000, Outcome.BAD_RESPONSE, "its answer is not JSON: nested too deeply", id="nested"),
        pytest.param(
            " <html><title>Bad gateway</title>",
            Outcome.BAD_RESPONSE,
            "it answered with a web page instead of JSON: Bad gateway",
            id="web page",
        ),
        pytest.param(
            "<html>captcha",
            Outcome.BLOCKED,
            "it answered with a challenge page instead of results",
            id="challenge page",
        ),
        pytest.param(
            stream({"id": 1, "error": {"code": -32000, "message": "Rate limit exceeded"}}),
            Outcome.RATE_LIMITED,
            "its tool failed: Rate limit exceeded",
            id="error about the rate",
        ),
        pytest.param(
            '{"id": 1, "error": {"message": "Invalid API key"}}',
            Outcome.AUTH,
            "its tool failed: Invalid API key",
            id="error about the key",
        ),
        pytest.param(
            '{"id": 1, "error": {"code": -1, "data": {"reason": "CREDITS_EXHAUSTED"}}}',
            Outcome.QUOTA,
            "its tool failed: an error without words",
            id="error whose words are in its data",
        ),
        pytest.param(
            '{"id": 1, "error": "out of credits"}',
            Outcome.QUOTA,
            "its tool failed: an error without words",
            id="error that is a text",
        ),
        pytest.param(
            '{"id": 1, "result": [1]}',
            Outcome.BAD_RESPONSE,
            "its tool failed: an error without words",
            id="a result of another shape",
        ),
        pytest.param(
            '{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Too many requests"}}',
            Outcome.RATE_LIMITED,
            "its tool failed: Too many requests",
            id="an error that could not be matched to the call",
        ),
        pytest.param(
            stream("data: " + "x" * 1_100_000, OURS),
            Outcome.BAD_RESPONSE,
            "its answer cannot be read: an event is longer than 1,048,576 bytes",
            id="an event that is too long",
        ),
    ],
)
def test_a_body_without_a_result_is_the_error_it_is(body: str, outcome: Outcome, detail: str) -> None:
    with pytest.raises(ProviderError) as caught:
        answer(reply(body))
    assert (caught.value.outcome, caught.value.detail, caught.value.http_status) == (outcome, detail, 200)


def test_a_tools_error_carries_the_wait_that_was_asked_for() -> None:
    error = tool_error(reply("{}", retry_after="7"), "rate limited\x1b[31m")
    assert (error.outcome, error.detail, error.retry_after) == (
        Outcome.RATE_LIMITED,
        "its tool failed: rate limited",
        7.0,
    )


@pytest.mark.parametrize(
    "result, blocks",
    [
        pytest.param({"content": [{"type": "text", "text": "a"}, {"text": "b"}]}, ["a", "b"], id="blocks"),
        pytest.param(
            {"content": [{"type": "image", "text": "a"}, {"type": "text", "text": 5}, "c", None]}, [], id="no text"
        ),
        pytest.param({"content": "a"}, [], id="no list"),
        pytest.param({}, [], id="no content"),
    ],
)
def test_the_text_blocks_of_a_result_are_its_text(result: dict[str, Any], blocks: list[str]) -> None:
    assert texts(result) == blocks


@pytest.mark.parametrize(
    "text, value",
    [
        pytest.param('{"results": []}', {"results": []}, id="object"),
        pytest.param(' \n[{"a": 1}]', [{"a": 1}], id="array"),
        pytest.param(json.dumps('{"results": []}'), {"results": []}, id="encoded twice"),
        pytest.param(json.dumps(json.dumps(json.dumps({}))), None, id="encoded three times"),
        pytest.param('"just words"', None, id="text in quotes"),
        pytest.param("Title: a", None, id="words"),
        pytest.param("", None, id="empty"),
        pytest.param("5", None, id="number"),
        pytest.param('{"a": NaN}', None, id="NaN"),
        pytest.param('{"a": 1', None, id="cut short"),
        pytest.param("[" * 100_000, None, id="nested too deeply"),
        pytest.param('"\ud800"', None, id="half a surrogate pair"),
    ],
)
def test_json_in_a_text_block_is_decoded_even_when_it_was_encoded_twice(text: str, value: Any) -> None:
    assert nested_json(text) == value


MESSAGES = st.lists(st.sampled_from([OTHER, PROGRESS, CALLS_US, ": ping", "data: no json", "id: 7", []]), max_size=5)


@given(MESSAGES, MESSAGES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_what_else_is_in_the_stream_does_not_matter(before: list[Any], after: list[Any], end: str) -> None:
    assert answer(reply(stream(*before, OURS, *after, end=end))) == RESULT


@given(
    st.one_of(
        st.binary(max_size=60),
        st.lists(st.sampled_from(["data:", "{", '"id":1', ",", '"result":{}', "}", "[", "\n", "\r", " ", "null"]))
        .map("".join)
        .map(str.encode),
    )
)
def test_every_body_is_a_result_or_a_provider_error(body: bytes) -> None:
    found: object
    try:
        found = answer(reply(body))
    except ProviderError as error:
        found = error
    assert isinstance(found, dict) or getattr(found, "http_status", None) == 200
