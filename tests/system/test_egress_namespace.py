"""Nothing private is ever dialled: counted where connections arrive, with real sockets, real DNS and the real program.

The program beside this file plays everything once in a network of its own; here is what must have come of it. It needs
`unshare` (util-linux) and `ip` (iproute2), and the right to make a namespace: root's, or that of any user where the
system allows user namespaces.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.system.egress_namespace import CASES, ROOT, SITE, spellings

PROGRAM = Path(__file__).with_name("egress_namespace.py")
MINUTES = 8  # for all of it; it takes one
AS_INVALID = ("url.not_absolute", "url.userinfo")
AS_FAILURE = {
    "dns.no_answers": "network",
    "proxy.env_ignored": "network",
    "redirect.loop": "bad_response",
    "redirect.too_many": "bad_response",
}


def entering() -> list[str]:
    """Return the command that gives a program a network of its own, or fail with what is missing."""
    for tool, package in (("unshare", "util-linux"), ("ip", "iproute2"), ("mount", "mount")):
        if shutil.which(tool) is None:
            pytest.fail(f"{tool} is missing: install the package {package}")
    ways = [["unshare", "--net", "--mount"]] if os.geteuid() == 0 else []
    ways.append(["unshare", "--map-root-user", "--net", "--mount"])
    said = ""
    for way in ways:
        done = subprocess.run([*way, "ip", "link", "set", "lo", "up"], capture_output=True, text=True)
        if done.returncode == 0:
            return way
        said = done.stderr.strip()
    return pytest.fail(f"no network namespace can be made here ({said}): run as root, or allow user namespaces")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program in its own network saw."""
    home = tmp_path_factory.mktemp("home")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        **{f"WEBSEAM_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "STATE", "CACHE")},
    }
    command = [*entering(), sys.executable, str(PROGRAM)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=MINUTES * 60)
    assert done.returncode == 0, done.stderr
    played: dict[str, Any] = json.loads(done.stdout)
    return played


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["id"]) for case in CASES if case.get("context") != "provider_base_url"]
)
def test_each_case_connects_to_what_it_may_or_to_nothing(report: dict[str, Any], case: dict[str, Any]) -> None:
    seen = report["cases"][case["id"]]
    told, reached = seen["told"], {address for address, _ in seen["dialled"]}
    first = {address for answers in case.get("dns", {}).values() for address in answers[0]}
    if case["verdict"] == "allow":
        assert told["outcome"] == "ok" or "_" in case["url"], told  # no certificate can be made for such a name
        assert reached <= first | {case.get("pin", "").removeprefix("::ffff:"), *mapped(case)}
        assert reached
        return
    if "hops" in case:
        assert reached <= first
        assert reached
    else:
        assert reached == set()
    rule = case["rule"]
    assert told["outcome"] == AS_FAILURE.get(rule, "invalid" if rule in AS_INVALID else "unsafe")
    if rule not in AS_FAILURE:
        assert told["rule"] == rule


def mapped(case: dict[str, Any]) -> list[str]:
    """Return how the system shows an IPv4 address that was dialled in its IPv6 form."""
    return ["8.8.8.8"] if case.get("pin") == "::ffff:808:808" else []


@pytest.mark.parametrize("how", ["redirect", "alternate", "refresh"])
def test_no_page_leads_to_any_spelling_of_a_private_address(report: dict[str, Any], how: str) -> None:
    urls = spellings()
    assert len(urls) == 187
    for url in urls:
        seen = report["offers"][f"{how} {url}"]
        assert {tuple(place) for place in seen["dialled"]} == {(SITE, 80)}, url
        assert (seen["told"]["outcome"] == "ok") is (how == "refresh"), url
        if seen["told"]["rule"] is not None:
            assert (seen["told"]["outcome"], len(seen["dialled"])) == ("unsafe", 1), url


TRICKS: dict[str, tuple[int, list[str], list[str], int]] = {  # exit code, outcomes, connected to, look-ups
    "a public site": (0, ["ok"], [SITE], 1),
    "rebinding between two requests": (8, ["unsafe"], [SITE], 2),
    "rebinding behind a redirect": (8, ["unsafe"], [SITE], 2),
    "rebinding from one page to the next": (8, ["ok", "unsafe"], [SITE], 2),
    "mixed answers": (8, ["unsafe"], [], 1),
    "mixed families": (8, ["unsafe"], [], 1),
    "a mapped answer": (8, ["unsafe"], [], 1),
    "the metadata service by name": (8, ["unsafe"], [], 1),
    "a redirect to the metadata service": (8, ["unsafe"], [SITE], 1),
    "a text form next door": (8, ["unsafe"], [SITE], 1),
    "a page that refreshes to this machine": (0, ["ok"], [SITE], 1),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_the_program_connects_to_the_public_site_and_nowhere_else(report: dict[str, Any], trick: str) -> None:
    code, outcomes, connections, lookups = TRICKS[trick]
    seen = report["program"][trick]
    reached = [address for address, _ in seen["dialled"]]
    assert (seen["told"]["code"], sorted(seen["told"]["outcomes"])) == (code, outcomes)
    assert (reached, len(seen["lookups"])) == (connections, lookups)
    assert seen["told"]["err"] == ""


@pytest.mark.parametrize("trick", ["every spelling", "every other spelling"])
def test_the_program_refuses_every_spelling_without_a_look_up(report: dict[str, Any], trick: str) -> None:
    seen = report["program"][trick]
    assert (seen["dialled"], seen["lookups"], seen["told"]["code"]) == ([], [], 8)
    assert set(seen["told"]["outcomes"]) <= {"unsafe", "invalid"}
    assert set(seen["told"]["texts"]) == {""}


def test_the_counters_count(report: dict[str, Any]) -> None:
    """In a network that accepts nothing all of this would pass for nothing."""
    reached = {address for seen in report["cases"].values() for address, _ in seen["dialled"]}
    assert {"93.184.215.14", "1.1.1.1", "168.63.129.15", "2606:4700:4700::1111"} <= reached
