import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.errors import Outcome, ProviderError
from webseam.net.message import Headers, Request, Response
from webseam.providers.base import Aside, ProviderConfig, Reply
from webseam.providers.mcp_wire import (
    ToolAnswer,
    answer,
    call,
    documents,
    is_answer,
    nested_json,
    session_call,
    texts,
    tool_error,
)
from webseam.version import VERSION

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


def _text_of(value: Any) -> dict[str, str]:
    return {"type": "text", "text": json.dumps(value)}


@pytest.mark.parametrize(
    "result, values",
    [
        pytest.param({"structuredContent": {"a": 1}, "content": [_text_of([2])]}, [{"a": 1}, [2]], id="both"),
        pytest.param({"structuredContent": {"result": '{"a": 1}'}}, [{"a": 1}], id="text in an envelope"),
        pytest.param({"structuredContent": {"result": [1]}}, [[1]], id="list in an envelope"),
        pytest.param({"structuredContent": {"result": 1}}, [], id="nothing in an envelope"),
        pytest.param({"structuredContent": {"result": [1], "a": 1}}, [{"result": [1], "a": 1}], id="no envelope"),
        pytest.param({"structuredContent": None, "content": [{"text": "words"}]}, [], id="words"),
        pytest.param({"content": [_text_of(json.dumps({"a": 1}))]}, [{"a": 1}], id="encoded twice"),
    ],
)
def test_the_json_of_a_result_is_found_wherever_servers_put_it(result: dict[str, Any], values: list[Any]) -> None:
    assert documents(result) == values


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


# Sessions.

URL = "https://mcp.example/mcp"
KEY = ("Authorization", "Bearer SECRET-KEY")
CONFIG = ProviderConfig(provider="one", base_url="https://mcp.example", key="SECRET-KEY", secrets=("SECRET-KEY",))
PARAMS = {"name": "search", "arguments": {"query": "q"}}
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "webseam", "version": VERSION},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
WELCOME = {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-06-18", "capabilities": {}}}
IN_SESSION = {"mcp-session-id": "session-one", "mcp-protocol-version": "2025-06-18"}


class Kept:
    """A memory that can be looked into."""

    def __init__(self, **values: dict[str, Any]) -> None:
        self.values = values
        self.ttl: dict[str, float] = {}

    def get(self, name: str) -> dict[str, Any] | None:
        return self.values.get(name)

    def set(self, name: str, value: dict[str, Any], *, ttl: float) -> None:
        self.values[name] = json.loads(json.dumps(value))
        self.ttl[name] = ttl

    def delete(self, name: str) -> None:
        self.values.pop(name, None)


def known(**changed: Any) -> Kept:
    return Kept(session={"url": URL, "id": "session-one", "protocol": "2025-06-18", **changed})


class Server:
    """Answers the messages of one conversation as told, and remembers them.

    Attributes:
        hello: the answer to `initialize`. calls: those to one call after the other, by the call's id.
        sent: what was sent, as (is it a handshake, headers that matter, message).
    """

    def __init__(self, *calls: Callable[[Any], Reply], hello: Reply | None = None, ready: Reply | None = None) -> None:
        self.hello = hello or reply(json.dumps(WELCOME), mcp_session_id="session-one")
        self.ready = ready or reply("", 202)
        self.calls = list(calls)
        self.sent: list[tuple[bool, dict[str, str], dict[str, Any]]] = []

    def __call__(self, step: Any) -> Reply:
        aside = isinstance(step, Aside)
        request: Request = step.request if isinstance(step, Aside) else step
        assert (request.method, request.url) == ("POST", URL)
        headers = {name.lower(): value for name, value in request.headers}
        assert headers.pop("accept") == "application/json, text/event-stream"
        assert headers.pop("content-type") == "application/json"
        assert headers.pop("authorization") == "Bearer SECRET-KEY"
        message = json.loads(request.body)
        self.sent.append((aside, headers, message))
        if message["method"] == "initialize":
            return self.hello
        return self.ready if "id" not in message else self.calls.pop(0)(message["id"])

    def methods(self) -> list[str]:
        return [message["method"] for _, _, message in self.sent]


def talk(server: Server, memory: Kept, **options: Any) -> ToolAnswer:
    """Carry out one call of a tool."""
    conversation = session_call(CONFIG, "/mcp", "search", {"query": "q"}, memory, headers=[KEY], **options)
    try:
        step = next(conversation)
        while True:
            step = conversation.send(server(step))
    except StopIteration as done:
        told: ToolAnswer = done.value
        return told


def found(number: Any) -> Reply:
    return reply(json.dumps({"jsonrpc": "2.0", "id": number, "result": RESULT}))


def refused(status: int, words: str = "") -> Callable[[Any], Reply]:
    return lambda _: reply(words, status)


def rpc_error(words: str, code: int = -32600) -> Callable[[Any], Reply]:
    return lambda number: reply(json.dumps({"id": number, "error": {"code": code, "message": words}}))


HANDSHAKE = ["initialize", "notifications/initialized", "tools/call"]


@pytest.mark.parametrize("status", [200, 202])
def test_a_first_call_shakes_hands_and_keeps_the_session_for_ten_minutes(status: int) -> None:
    server, memory = Server(found, ready=reply("", status)), Kept()
    assert talk(server, memory).result == RESULT
    assert server.sent == [
        (True, {}, HELLO),
        (True, IN_SESSION, READY),
        (False, IN_SESSION, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": PARAMS}),
    ]
    assert memory.values == known().values
    assert memory.ttl == {"session": 600.0}


def test_a_whole_address_is_called_as_it_is() -> None:
    conversation = session_call(CONFIG, "https://other.example/x", "search", {}, Kept())
    step = next(conversation)
    conversation.close()
    assert isinstance(step, Aside)
    assert step.request.url == "https://other.example/x"


def test_a_server_that_keeps_no_sessions_is_told_of_none() -> None:
    server, memory = Server(found, found, hello=reply(json.dumps(WELCOME))), Kept()
    for _ in range(2):
        assert talk(server, memory).result == RESULT
    assert server.methods() == [*HANDSHAKE, "tools/call"]
    assert [headers for _, headers, _ in server.sent] == [{}, *[{"mcp-protocol-version": "2025-06-18"}] * 3]


@pytest.mark.parametrize(
    "stated, sent",
    [
        pytest.param("2025-03-26", "2025-03-26", id="older"),
        pytest.param("2024-11-05\r\nX-Odd: 1", "2025-06-18", id="no-version"),
        pytest.param(None, "2025-06-18", id="null"),
    ],
)
def test_later_messages_carry_the_protocol_that_was_agreed_on(stated: str | None, sent: str) -> None:
    welcome = {**WELCOME, "result": {"protocolVersion": stated}}
    server = Server(found, hello=reply(json.dumps(welcome)))
    talk(server, Kept())
    assert [headers.get("mcp-protocol-version") for _, headers, _ in server.sent] == [None, sent, sent]


def test_another_protocol_may_be_asked_for() -> None:
    server = Server(found)
    talk(server, Kept(), protocol="2025-03-26")
    assert server.sent[0][2]["params"]["protocolVersion"] == "2025-03-26"


def test_the_handshake_may_come_as_a_stream() -> None:
    server = Server(found, hello=reply(stream(PROGRESS, WELCOME), mcp_session_id="session-one"))
    assert talk(server, Kept()).result == RESULT


def test_calls_in_a_kept_session_are_calls_alone_and_no_two_have_the_same_id() -> None:
    server, memory = Server(found, found, found), Kept()
    for _ in range(3):
        assert talk(server, memory).result == RESULT
    assert server.methods() == [*HANDSHAKE, "tools/call", "tools/call"]
    assert server.sent[-1][1] == IN_SESSION
    assert len({message["id"] for _, _, message in server.sent if "id" in message}) == 4


def test_an_answer_to_another_call_of_the_session_is_none_to_ours() -> None:
    with pytest.raises(ProviderError, match="it sent no answer to the call"):
        talk(Server(lambda number: found(number + 1)), known())


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(known(url="https://elsewhere.example/mcp"), id="another address"),
        pytest.param(known(id="a\r\nb"), id="no id"),
        pytest.param(known(protocol="new"), id="no protocol"),
        pytest.param(known(id=7), id="a number"),
        pytest.param(Kept(session={}), id="nothing"),
    ],
)
def test_what_is_no_session_of_this_server_is_not_used(kept: Kept) -> None:
    server = Server(found)
    talk(server, kept)
    assert server.methods() == HANDSHAKE
    assert kept.values == known().values


@pytest.mark.parametrize(
    "forgotten",
    [
        pytest.param(refused(404), id="404"),
        pytest.param(refused(404, '{"error": {"message": "Session not found"}}'), id="404-with-words"),
        pytest.param(refused(400, "Bad Request: No valid session ID provided"), id="400-about-the-session"),
        pytest.param(refused(400, '{"error": "Server not initialized"}'), id="400-not-initialized"),
        pytest.param(rpc_error("Session expired"), id="error-about-the-session"),
        pytest.param(lambda _: reply('{"id": null, "error": {"message": "invalid session"}}'), id="error-for-no-call"),
    ],
)
def test_a_session_that_the_server_forgot_is_opened_again_once(forgotten: Callable[[Any], Reply]) -> None:
    again = reply(json.dumps(WELCOME), mcp_session_id="session-two")
    server, memory = Server(forgotten, found, hello=again), known()
    assert talk(server, memory).result == RESULT
    assert server.methods() == ["tools/call", *HANDSHAKE]
    assert [headers.get("mcp-session-id") for _, headers, _ in server.sent] == [
        "session-one", None, "session-two", "session-two",
    ]  # fmt: skip
    assert memory.values == known(id="session-two").values
    hopeless = Server(forgotten, forgotten, hello=again)
    with pytest.raises(ProviderError):
        talk(hopeless, known())
    assert hopeless.methods() == ["tools/call", *HANDSHAKE]


@pytest.mark.parametrize(
    "answered, outcome, detail",
    [
        pytest.param(refused(401, '{"error": "No API key"}'), Outcome.AUTH, "HTTP 401: No API key", id="401"),
        pytest.param(refused(429), Outcome.RATE_LIMITED, "HTTP 429", id="429"),
        pytest.param(refused(500, "session store down"), Outcome.UPSTREAM, "HTTP 500: session store down", id="500"),
        pytest.param(
            rpc_error("Too many requests"), Outcome.RATE_LIMITED, "its tool failed: Too many requests", id="error"
        ),
        pytest.param(
            lambda number: reply(
                json.dumps({"id": number, "result": {"isError": True, "content": [{"text": "no session for you"}]}})
            ),
            Outcome.BAD_RESPONSE,
            "its tool failed: no session for you",
            id="the tool's own words",
        ),
        pytest.param(refused(202), Outcome.BAD_RESPONSE, "it sent no answer to the call", id="nothing"),
    ],
)
def test_a_refusal_that_is_not_about_the_session_is_an_error_at_once(
    answered: Callable[[Any], Reply], outcome: Outcome, detail: str
) -> None:
    server = Server(answered)
    with pytest.raises(ProviderError) as caught:
        talk(server, known())
    assert (caught.value.outcome, caught.value.detail, server.methods()) == (outcome, detail, ["tools/call"])


@pytest.mark.parametrize(
    "server, outcome, detail",
    [
        pytest.param(Server(hello=reply("", 404)), Outcome.BAD_RESPONSE, "HTTP 404", id="wrong-address"),
        pytest.param(Server(hello=reply("", 429, retry_after="9")), Outcome.RATE_LIMITED, "HTTP 429", id="429"),
        pytest.param(
            Server(hello=reply('{"id": 0, "error": {"message": "Invalid API key"}}')),
            Outcome.AUTH,
            "its tool failed: Invalid API key",
            id="error",
        ),
        pytest.param(
            Server(hello=reply(json.dumps(WELCOME), mcp_session_id="a b")),
            Outcome.BAD_RESPONSE,
            "its session id is not one",
            id="session-id",
        ),
        pytest.param(Server(ready=reply("", 400)), Outcome.BAD_RESPONSE, "HTTP 400", id="notification"),
    ],
)
def test_a_handshake_that_fails_is_an_error_and_nothing_is_kept(server: Server, outcome: Outcome, detail: str) -> None:
    memory = Kept()
    with pytest.raises(ProviderError) as caught:
        talk(server, memory)
    assert (caught.value.outcome, caught.value.detail, memory.values) == (outcome, detail, {})


def test_neither_key_nor_session_can_be_read_anywhere() -> None:
    steps: list[str] = []

    class Loud(Server):
        def __call__(self, step: Any) -> Reply:
            steps.append(repr(step))
            return super().__call__(step)

    hello = reply(json.dumps(WELCOME), mcp_session_id="opened-4711")
    server = Loud(found, refused(403, "opened-4711 has no access"), hello=hello)
    memory = Kept()
    told = talk(server, memory)
    with pytest.raises(ProviderError) as caught:
        talk(server, memory)
    assert caught.value.detail == "HTTP 403: *** has no access"
    shown = f"{steps} {told!r} {caught.value!r}"
    assert "opened-4711" not in shown
    assert "SECRET-KEY" not in f"{shown} {memory.values}"


def test_the_data_of_a_call_in_a_session_ends_the_reading() -> None:
    conversation = session_call(CONFIG, "/mcp", "search", {}, known())
    request = next(conversation)
    conversation.close()
    assert isinstance(request, Request)
    assert request.stop_at is not None
    number = json.loads(request.body)["id"]
    answers = [json.dumps({"id": one, "result": {}}) for one in (number, number + 1)]
    assert [request.stop_at(data) for data in answers] == [True, False]
