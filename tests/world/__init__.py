"""A world for tests: servers on loopback that answer well or misbehave, names that resolve as scripted, TLS, proxies.

    async with World() as world:
        url = world.serve(handler)                              # handler(connection): raw bytes, one call a connection
        world.route("POST", "/search", handler)                 # handler(request) -> (status, headers, body)
        response = await world.send("GET", url)                 # a real client, allowed to dial loopback
        assert world.requests[0].json() == {...}

Everything runs in the test's own event loop over real sockets: framing faults cannot be made with a patched client.
What a handler raises is raised again when the world ends, and nothing is left running.
"""

from tests.world.names import NEVER, Names
from tests.world.server import Connection, Play, Recorded, repeat, reply
from tests.world.site import Site, answer_bytes
from tests.world.world import World, soon

__all__ = [
    "NEVER",
    "Connection",
    "Names",
    "Play",
    "Recorded",
    "Site",
    "World",
    "answer_bytes",
    "repeat",
    "reply",
    "soon",
]
