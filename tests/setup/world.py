"""What these tests share: machines that are not this one, and files of clients that are only bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from webseam.setup.clients import BY_ID
from webseam.setup.entry import Server, entry_for
from webseam.setup.machine import Machine, Platform
from webseam.setup.plan import Change, File, plan_entry, plan_removal

PROGRAM = "/opt/webseam/bin/webseam"
STDIO = Server((PROGRAM, "mcp"))
HTTP = Server(url="http://127.0.0.1:8377/mcp")
HTTP_WITH_KEY = Server(url="https://search.example.org/mcp", key_name="WEBSEAM_MCP_API_KEY")
SECRET = "sk-canary-0123456789-abcdef"
HOMES: Mapping[Platform, str] = {"linux": "/home/ann", "darwin": "/Users/ann", "win32": "C:\\Users\\ann"}


def machine(
    platform: Platform = "linux",
    *,
    env: Mapping[str, str] | None = None,
    has: Iterable[str] = (),
    programs: Iterable[str] = (),
) -> Machine:
    """Return a machine on which only these paths and programs are."""
    paths, names = frozenset(has), frozenset(programs)
    return Machine(
        platform=platform,
        home=HOMES[platform],
        env=env or {},
        exists=lambda path: path in paths,
        which=lambda name: f"/usr/bin/{name}" if name in names else None,
    )


def planned(client: str, before: bytes | None, *, server: Server = STDIO, backup: bytes | None = None) -> Change:
    """Return what set-up would make of the contents of a client's file."""
    one = BY_ID[client]
    return plan_entry(one, entry_for(one, server), File("/file", before, backup))


def removed(client: str, contents: bytes | None, backup: bytes | None) -> Change:
    """Return what taking webseam out would make of it."""
    return plan_removal(BY_ID[client], File("/file", contents, backup))


def there_and_back(client: str, before: bytes | None, *, server: Server = STDIO) -> tuple[bytes | None, bytes | None]:
    """Return a file after set-up, and after set-up was taken back; what was kept in between is what set-up keeps."""
    first = planned(client, before, server=server)
    backup = first.before if first.backs_up else None
    again = planned(client, first.after, server=server, backup=backup)
    assert again == Change("/file", "nothing", first.after, first.after)
    return first.after, removed(client, first.after, backup).after
