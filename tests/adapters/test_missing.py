"""What somebody is told who has not installed the framework."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import webseam

SOURCE = Path(webseam.__file__).parents[1]

# None among the loaded modules is how Python is told that there is no such module.
TRIED = """
import sys
sys.modules[{framework!r}] = None
try:
    import webseam.adapters.{adapter}
except ImportError as error:
    print(error.name, error, sep=": ")
"""


@pytest.mark.parametrize(
    ("adapter", "framework", "install"),
    [
        pytest.param("pydantic_ai", "pydantic_ai", "pydantic-ai-slim>=2.68", id="pydantic-ai"),
        pytest.param("openai_agents", "agents", "openai-agents>=0.24", id="openai-agents"),
        pytest.param("langchain", "langchain_core", "langchain-core>=1.8", id="langchain"),
        pytest.param("llama_index", "llama_index", "llama-index-core>=0.14", id="llama-index"),
        pytest.param("smolagents", "smolagents", "smolagents>=1.26", id="smolagents"),
    ],
)
def test_an_adapter_without_its_framework_says_what_to_install(adapter: str, framework: str, install: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", TRIED.format(adapter=adapter, framework=framework)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    name, _, said = run.stdout.partition(": ")
    wanted = f"webseam.adapters.{adapter} needs a framework that is not installed: pip install '{install}' ("
    assert (name.split(".")[0], said[: len(wanted)]) == (framework, wanted)


def test_every_adapter_is_named_here() -> None:
    modules = {path.stem for path in (SOURCE / "webseam" / "adapters").glob("*.py")} - {"__init__", "session"}
    named = {row.values[0] for row in test_an_adapter_without_its_framework_says_what_to_install.pytestmark[0].args[1]}
    assert named == modules
