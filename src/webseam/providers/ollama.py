"""Ollama's web search and reading of pages: through an Ollama server of one's own, then at ollama.com with a key.

Wire: https://docs.ollama.com, hosted as its official Python SDK sends it. One's own server only relays, with the
account it is signed in to: the query reaches ollama.com either way. No key is ever sent to that server.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from webseam.config import Setting, Settings
from webseam.errors import Outcome, ProviderError
from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.providers.base import (
    EMULATED,
    Hits,
    Parsed,
    Provider,
    ProviderConfig,
    ReadPage,
    Reply,
    post_json,
    rows,
    shape,
)
from webseam.text import SNIPPET_LIMIT

LOCAL: Final = "local"
HOSTED: Final = "hosted"
_HOST: Final = "ollama.com"
_PORT: Final = 11434
_USUAL_SERVER: Final = f"http://127.0.0.1:{_PORT}"
_ANYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - where a server listens is no place to call
_SERVER_NAMES: Final = "ollama.local_url, OLLAMA_HOST"
_OF_PAGE: Final = (400, 404, 422)  # statuses that may be about the page
_OF_OTHERS: Final = ("OPENAI_BASE_URL", "OPENAI_API_BASE")  # an Ollama server when they look like one


class Ollama(Provider):
    id = "ollama"
    label = "Ollama"
    receives = "your Ollama server, and Ollama (ollama.com), to which it relays"
    rank = 30
    base_url = f"https://{_HOST}"
    key = "optional"
    key_env = ("OLLAMA_API_KEY", "OLLAMA_CLOUD_API_KEY", "OLLAMA_CLOUD_WEB_SEARCH_API_KEY")
    settings = (
        Setting(
            name="route",
            default="auto",
            choices=("auto", LOCAL, HOSTED),
            help="auto = your server where an address is set, then ollama.com where there is a key",
        ),
        Setting(
            name="local_url",
            env=("OLLAMA_BASE_URL", "OLLAMA_HOST"),
            guarded=True,
            help=f"your Ollama server; with the route local {_USUAL_SERVER} unless set",
        ),
    )
    options = {"include_domains": EMULATED, "exclude_domains": EMULATED, "page": EMULATED}
    price = 0.0
    reads = True
    read_price = 0.0
    hint = "run `ollama signin` and set ollama.route to local, or get a key at ollama.com: webseam key set ollama"

    def routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        route = config.values["route"]
        address = _server(config, settings) or (_USUAL_SERVER if route == LOCAL else None)
        if route == HOSTED or address is None:
            return (config,)
        local = replace(config, route=LOCAL, base_url=_address(address) or "", key="", key_identity="", key_origin="")
        return (local, replace(config, route=HOSTED)) if route == "auto" and config.key else (local,)

    def fitted(self, config: ProviderConfig) -> Provider:
        """Return this provider as its place makes it: at ollama.com no server of the user's receives the query."""
        return self if config.route == LOCAL else self.copied(receives=f"Ollama ({_HOST})")

    def unavailable(self, config: ProviderConfig) -> str | None:
        if config.route == LOCAL:
            return (
                None if config.base_url else f"the address of your server ({_SERVER_NAMES}) is not an http or https URL"
            )
        return None if config.key else f"no key ({self.key_env[0]}), and no server of your own (OLLAMA_HOST)"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        return _post(config, "web_search", {"query": search.query, "max_results": search.count})

    def failure(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> ProviderError | Request | None:
        from webseam.providers.verdicts import failure

        return _of_server(reply, failure(reply)) if config.route == LOCAL else None

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        hits = Hits(self.id)
        for row in rows(reply, reply.json(), "results"):
            content = row.get("content")  # the text of the page, often all of it
            long = isinstance(content, str) and len(content) > SNIPPET_LIMIT
            hits.add(url=row.get("url"), title=row.get("title"), snippet=content, passages=[content] if long else ())
        return hits.parsed()

    def read_routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        return self.routes(config, settings)  # both are free

    def read_request(self, url: str, config: ProviderConfig) -> Request:
        return _post(config, "web_fetch", {"url": url})

    def read_failure(self, reply: Reply, url: str, config: ProviderConfig) -> ProviderError | ReadPage | None:
        """Judge a refusal. It has no words of its own for a page it cannot read: what it states in JSON is that."""
        from webseam.providers.verdicts import failure, message_of

        error = failure(reply)
        words = message_of(reply.fields())
        error = _of_server(reply, error) if config.route == LOCAL else error
        if words and reply.status in _OF_PAGE and error.outcome in (Outcome.BAD_RESPONSE, Outcome.UNSUPPORTED):
            return ReadPage(problem=reply.quote(words))
        return error

    def read_answer(self, reply: Reply, url: str, config: ProviderConfig) -> ReadPage:
        document = reply.json()
        if not isinstance(document, dict) or "content" not in document:
            raise shape(reply, document, "content")
        return ReadPage(markdown=document["content"], title=document.get("title"))


def _post(config: ProviderConfig, name: str, body: dict[str, object]) -> Request:
    if config.route == LOCAL:
        return post_json(config, f"/api/experimental/{name}", body)
    return post_json(config, f"/api/{name}", body, ("Authorization", f"Bearer {config.key}"))


def _server(config: ProviderConfig, settings: Settings) -> str | None:
    """Return the address of the user's own server as it was written, or None where none is set."""
    own = config.values["local_url"]
    if own:
        return None if _is_hosted(own) else str(own)
    return next((url for name in _OF_OTHERS if (url := settings.variable(name)) and _looks_like_ollama(url)), None)


def _is_hosted(written: str) -> bool:
    """True for ollama.com itself: its users set it as the server of the client, but it takes a key."""
    try:
        host = urlsplit(written if "://" in written else f"https://{written}").hostname or ""
    except ValueError:
        return False
    return host == _HOST or host.endswith(f".{_HOST}")


def _looks_like_ollama(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.port == _PORT or "ollama" in (parts.hostname or "").split(".")
    except ValueError:
        return False


def _address(written: str) -> str | None:
    """Return a server's address as a base URL, read as Ollama's own programs read it; None when it is none."""
    whole = "://" in written
    try:
        parts = urlsplit(written if whole else f"http://{written}")
        host, port = parts.hostname or ("" if whole else "127.0.0.1"), parts.port
    except ValueError:
        return None
    sound = parts.scheme in ("http", "https") and host and port != 0 and parts.username is None
    if not sound or parts.query or parts.fragment or not written.isprintable() or " " in written:
        return None
    host = _ANYWHERE.get(host, f"[{host}]" if ":" in host else host)
    if port is None and not whole:
        port = _PORT
    path = parts.path.rstrip("/").removesuffix("/v1")
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{path}"


def _of_server(reply: Reply, error: ProviderError) -> ProviderError:
    """Return the error with what the user's own server means by it."""
    words = reply.text().lower()
    if reply.status == 404:
        error.outcome, error.hint = Outcome.UNAVAILABLE, "this Ollama has no web search: update it"
    elif "ollama cloud is disabled" in words:
        error.outcome = Outcome.UNAVAILABLE
    elif reply.status == 401 or "sign in" in words:
        error.outcome, error.hint = Outcome.AUTH, "run: ollama signin"
    return error
