"""The entry that a client is given: how webseam is started or reached, put into the client's own shape.

No key is ever part of it. A client that calls a URL gets the name of the environment variable that holds the key, where
it has a way to say that; one that has none is told about in a note, instead of a key in a file that people share.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from webseam.errors import Outcome, RequestError, WebSeamError
from webseam.setup.clients import (
    ARGUMENTS,
    COMMAND,
    HEADERS,
    KEY_NAME,
    KEY_NAMES,
    LINE,
    URL,
    Client,
    Shape,
)

NAME: Final = "webseam"  # of the entry, in every client
KEY_VARIABLE: Final = "WEBSEAM_MCP_API_KEY"  # where the server takes its key from, so that one name is enough
_LOOPBACK: Final = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Server:
    """How a client gets to webseam: by starting a program, or by calling a URL.

    Attributes:
        line: the program and its arguments; empty when there is a URL.
        url: where a server listens. key_name: the environment variable with its key, None when it asks for none.
    """

    line: tuple[str, ...] = ()
    url: str | None = None
    key_name: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What to write for one client.

    Attributes:
        fixed: values to set. initial: further values of an entry that is new. dropped: keys of the other way.
        note: what the file cannot say, or None.
    """

    fixed: Mapping[str, Any]
    initial: Mapping[str, Any]
    dropped: tuple[str, ...]
    note: str | None = None

    def new(self) -> dict[str, Any]:
        """Return a whole new entry."""
        return {**self.fixed, **self.initial}

    def changes(self, existing: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return what has to be set in an entry that is there, and the keys that have to go; the user's own stay."""
        changed = {key: _merged(existing.get(key), value) for key, value in self.fixed.items()}
        return (
            {key: value for key, value in changed.items() if key not in existing or existing[key] != value},
            tuple(key for key in self.dropped if key in existing),
        )


def _merged(existing: Any, wanted: Any) -> Any:
    """Return a value as wanted, with the user's own headers and variable names beside ours."""
    if isinstance(wanted, Mapping) and isinstance(existing, Mapping):
        return {**existing, **wanted}
    return wanted


def server_at(url: str, key_name: str | None) -> Server:
    """Return a server that is called over HTTP.

    A server anywhere but on this machine asks for a key, so its variable is named even when nobody said so. For one on
    this machine it is not: clients refuse to start with a variable that is not set.

    Raises:
        RequestError: no URL that a server can listen at, a key inside it, or no name of a variable.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or re.search(r"[^\x21-\x7e]", url):
        raise RequestError("http", "is no URL of a server", hint="--http http://127.0.0.1:8377/mcp")
    if parts.username is not None or parts.query or parts.fragment:
        words = "must hold no user, query or fragment: a key has no place in a file of a client"
        raise RequestError("http", words, hint="--key-env NAME names the variable that holds the key")
    if key_name is not None and not _VARIABLE.fullmatch(key_name):  # not repeated: it may be the key itself
        raise RequestError("key-env", "is no name of an environment variable", hint=f"--key-env {KEY_VARIABLE}")
    if key_name is None and not _LOOPBACK.fullmatch(host):
        key_name = KEY_VARIABLE
    return Server(url=url, key_name=key_name)


def entry_for(client: Client, server: Server) -> Entry:
    """Return the entry of a client.

    Raises:
        WebSeamError: `unsupported`: its file has no entry for a URL.
    """
    if server.url is None:
        shape, other = client.stdio, client.http
    elif client.http is not None:
        shape, other = client.http, client.stdio
    else:
        words = f"{client.label} calls no URL from its file"
        raise WebSeamError(words, outcome=Outcome.UNSUPPORTED, hint=f"webseam setup {client.id} lets it start webseam")
    values = _values(client, server)
    foreign = () if other is None else tuple(key for key in other.fixed if key not in shape.fixed)
    note = None
    if server.key_name and not {HEADERS, KEY_NAME} & {*map(str, shape.fixed.values())}:
        note = f"{client.label} takes no key from the environment; sign in to the server in its own settings"
    return Entry(_filled(shape, values), dict(shape.initial), foreign, note)


def any_client(server: Server) -> dict[str, Any]:
    """Return the entry in the shape most clients read."""
    if server.url is None:
        return {"command": server.line[0], "args": list(server.line[1:])}
    headers = {"headers": {"Authorization": f"Bearer ${{{server.key_name}}}"}} if server.key_name else {}
    return {"type": "http", "url": server.url, **headers}


def _values(client: Client, server: Server) -> dict[str, Any]:
    name, bearer = server.key_name, client.bearer
    return {
        COMMAND: server.line[0] if server.line else None,
        ARGUMENTS: list(server.line[1:]),
        LINE: list(server.line),
        URL: server.url,
        KEY_NAME: name,
        KEY_NAMES: [name] if name else None,
        HEADERS: {"Authorization": bearer.replace("NAME", name)} if name and bearer else None,
    }


def _filled(shape: Shape, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a shape with values in it; a key whose value there is none of is left out."""
    filled = {key: values.get(value, value) for key, value in shape.fixed.items()}
    return {key: value for key, value in filled.items() if value is not None}
