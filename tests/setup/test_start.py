"""The command a client is told to run: absolute, and one that stays."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from webseam.errors import WebSeamError
from webseam.setup.start import Running, start_line

SITE = "/venv/lib/python3.11/site-packages/webseam"


def how(
    program: str,
    *,
    interpreter: str = "/venv/bin/python",
    package: str = SITE,
    files: tuple[str, ...] = (),
    which: Mapping[str, str] | None = None,
    published: bool = True,
) -> Running:
    return Running(
        program=program,
        interpreter=interpreter,
        package=package,
        is_file=lambda path: path in files,
        which=lambda name: (which or {}).get(name),
        published=published,
    )


@pytest.mark.parametrize(
    ("running", "line"),
    [
        pytest.param(
            how(
                "/co/.venv/bin/webseam",
                package="/co/src/webseam",
                files=("/co/scripts/webseam", "/co/.venv/bin/webseam"),
            ),
            ("/co/scripts/webseam", "mcp"),
            id="a checkout",
        ),
        pytest.param(
            how("/home/ann/.local/bin/webseam", files=("/home/ann/.local/bin/webseam", "/venv/bin/webseam")),
            ("/home/ann/.local/bin/webseam", "mcp"),
            id="the program that was called",
        ),
        pytest.param(
            how("webseam", files=("/usr/bin/webseam",), which={"webseam": "/usr/bin/webseam"}),
            ("/usr/bin/webseam", "mcp"),
            id="by the search path",
        ),
        pytest.param(
            how(f"{SITE}/__main__.py", files=("/venv/bin/webseam",)), ("/venv/bin/webseam", "mcp"), id="python -m"
        ),
        pytest.param(
            how(f"{SITE}/__main__.py", files=("/venv/bin/webseam.exe",)), ("/venv/bin/webseam.exe", "mcp"), id="Windows"
        ),
        pytest.param(
            how(f"{SITE}/__main__.py"), ("/venv/bin/python", "-m", "webseam", "mcp"), id="no program installed"
        ),
        pytest.param(
            how(
                "/cache/uv/archive-v0/x/bin/webseam",
                interpreter="/cache/uv/archive-v0/x/bin/python",
                files=("/cache/uv/archive-v0/x/bin/webseam",),
                which={"uvx": "/usr/bin/uvx"},
            ),
            ("/usr/bin/uvx", "webseam", "mcp"),
            id="uvx",
        ),
    ],
)
def test_a_client_is_told_a_path_that_stays(running: Running, line: tuple[str, ...]) -> None:
    assert start_line(running) == line


def test_a_path_that_no_file_can_hold_is_refused() -> None:
    path = "/caf\udce9/webseam"  # bytes that are not UTF-8, as Python passes them on
    with pytest.raises(WebSeamError, match="the path of webseam is not UTF-8"):
        start_line(how(path, files=(path,)))


def test_uvx_is_not_told_to_start_another_package_of_the_same_name() -> None:
    running = how("webseam", interpreter="/c/archive-v0/x/bin/python", which={"uvx": "/usr/bin/uvx"}, published=False)
    with pytest.raises(WebSeamError) as refused:
        start_line(running)
    assert refused.value.hint == "uv tool install it, then run webseam setup"
