"""Runs a client whose address is fixed in its code, in a process of its own, behind a proxy that leads to the fake.

The client is not changed and its name is not resolved: it is told of a proxy and of a certificate authority by the
variables every HTTP library reads, as in a company's network. What it sends arrives at the fake as if it had been
sent there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

from tests.wire import QUERY
from tests.wire.fake import KEY
from tests.world import Connection, World
from tests.world.proxies import HttpProxy, _join

_AUTHORITIES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_PROXIES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY")


async def elsewhere(url: str, host: str, script: str, **variables: str) -> Any:
    """Run a Python script that speaks to `https://host`, and return what it printed as JSON.

    Args:
        url: of the fake; what the script sends to `host` arrives there.
        script: finds the query in `sys.argv[1]` and the key in `sys.argv[2]`; prints one JSON document.
        variables: more of its environment.

    Raises:
        AssertionError: the script failed, or spoke to somebody else.
    """
    port = urlsplit(url).port
    assert port is not None

    async def lead(connection: Connection) -> None:
        await _join(connection, "127.0.0.1", port)

    async with World() as world:
        front = urlsplit(world.serve(lead, host=host, tls=True))
        assert front.port is not None
        proxy = HttpProxy(front.port)
        address = world.serve(proxy)
        environment = {
            **os.environ,
            **dict.fromkeys(_AUTHORITIES, world.ca_bundle),
            **dict.fromkeys(_PROXIES, address),
            **variables,
        }
        printed = await _run(script, environment)
    assert {target for _, target in proxy.asked} == {f"{host}:443"}
    return json.loads(printed)


async def _run(script: str, environment: dict[str, str]) -> bytes:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, QUERY, KEY,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
    )  # fmt: skip
    try:
        out, err = await process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    assert process.returncode == 0, err.decode("utf-8", "replace")[-2_000:]
    return out
