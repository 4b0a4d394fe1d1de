"""The coding agents that are run for real: where each is installed, how it is pointed at loopback, what it is asked.

One class a client and nothing of it elsewhere. Each gets a home of its own, a key that is none, and everything switched
off that would call out: the only addresses it needs are those of the scripted model and of our server.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

ROOT = Path(__file__).parents[2]
MODULES = Path(os.environ.get("WEBSEAM_TEST_AGENTS") or ROOT / ".agents" / "node_modules")
WITHIN = 90.0  # seconds for one run; the slowest takes about ten on two busy cores
SERVER = "webseam"  # under which name our server stands in a client's configuration
KEY_NAME = "WEBSEAM_TEST_KEY"  # the variable in which a client finds the key of our server over HTTP
_BOUNDS = ("minimum", "maximum", "maxItems")
_NO_KEY = "no-key"  # a client refuses to start without one


@dataclass(frozen=True)
class Ran:
    """How a program ended and what it printed; `code` is None when it had to be killed."""

    code: int | None
    out: str
    err: str

    def __str__(self) -> str:
        ended = "killed, it took too long" if self.code is None else f"exit code {self.code}"
        return f"{ended}\n--- stdout\n{self.out[-4000:]}\n--- stderr\n{self.err[-4000:]}"


class Client:
    """A coding agent.

    Attributes:
        name: what `webseam setup` calls it.
        label: what its maker calls it.
        wire: the model API it is made to speak here.
        package: the npm package that holds its program.
        program: where its program is below node_modules, as patterns; the first that matches counts.
        node: True for a program that node runs.
        listing: arguments that print its MCP servers.
        listed: what of that says that ours is one; with the word for its state where it tells one.
        calls_it: how `web_search` is called at its model.
        around: what it puts around a result, `{}` being the result; a regular expression.
        puts: the same in words, "" when it puts nothing there.
        most: how much of one result it lets through, in its own words, and the highest max_tokens that fits into it.
        told: how many characters of what our server says of itself (MCP's `instructions`) the model reads; None = all.
        looks: True when the model has to look for our tools before it can call them.
        adds: arguments of its own that it shows its model beside ours, and sends us.
        structured: what reaches the model of a result that has an object beside its text: text, object or both.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    wire: ClassVar[str]
    package: ClassVar[str]
    program: ClassVar[tuple[str, ...]]
    node: ClassVar[bool] = False
    listing: ClassVar[tuple[str, ...]] = ("mcp", "list")
    listed: ClassVar[str]
    calls_it: ClassVar[str]
    around: ClassVar[str] = "{}"
    puts: ClassVar[str] = ""
    most: ClassVar[tuple[str, int]]
    told: ClassVar[int | None] = None
    looks: ClassVar[bool] = False
    adds: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    structured: ClassVar[str]

    def environment(self, model: str) -> dict[str, str]:
        """Return what it needs in its environment to talk to the model at that origin, and to nobody else."""
        raise NotImplementedError

    def prepare(self, home: Path, model: str) -> None:
        """Write what it needs in its home beside MCP servers. Nothing for most."""

    def asking(self, prompt: str) -> tuple[str, ...]:
        """Return the arguments of one run that answers the prompt, calls our tools unasked, and ends."""
        raise NotImplementedError

    def shown(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the model is shown of our arguments, a JSON Schema each."""
        return dict(arguments)

    def installed(self) -> list[str]:
        """Return the command line of its program.

        Raises:
            LookupError: it is not installed here.
        """
        for pattern in self.program:
            for found in sorted(MODULES.glob(pattern)):
                return [*([node()] if self.node else []), str(found)]
        raise LookupError(f"{self.label} is not in {MODULES}: run this with scripts/test-agents, which installs it")

    def version(self) -> str:
        """Return the version that is installed."""
        return str(json.loads((MODULES / self.package / "package.json").read_text("utf-8"))["version"])

    def run(self, arguments: Sequence[str], *, home: Path, model: str, key: str = "") -> Ran:
        """Run it in that home, in an empty folder of a project. `key` is that of our server over HTTP."""
        project = home / "project"
        project.mkdir(exist_ok=True)
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "dumb", "NO_COLOR": "1", "CI": "1"}
        environment |= {KEY_NAME: key} if key else {}
        return run([*self.installed(), *arguments], {**environment, **self.environment(model)}, project)


def node() -> str:
    """Return the node that is installed beside the clients, else the system's."""
    for found in MODULES.glob("node-*/bin/node"):
        return str(found)
    return shutil.which("node") or "node"


def run(command: Sequence[str], environment: Mapping[str, str], folder: Path, within: float = WITHIN) -> Ran:
    """Run a program to its end, and all that it started; kill them together when they take too long."""
    # Files, not pipes: whatever a program leaves behind would keep a pipe open, and us waiting.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command, env=dict(environment), cwd=folder,
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
        )  # fmt: skip
        try:
            code: int | None = process.wait(within)
        except subprocess.TimeoutExpired:
            code = None
        with contextlib.suppress(ProcessLookupError):  # it left nothing behind
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode("utf-8", "replace"))
    return Ran(code, *said)


def _merge(path: Path, **values: Any) -> None:
    """Set these keys of a JSON file, which need not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    held = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps(held | values, indent=2), "utf-8")


def _without_bounds(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name not in _BOUNDS}


class ClaudeCode(Client):
    name = "claude-code"
    label = "Claude Code"
    wire = "Anthropic Messages"
    package = "@anthropic-ai/claude-code"
    program = ("@anthropic-ai/claude-code-*/claude",)
    listed = "webseam: .* mcp - ✔ Connected"
    calls_it = "mcp__webseam__web_search"
    most = ("50,000 characters", 8_000)
    looks = True
    structured = "object"

    def environment(self, model: str) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": model,
            "ANTHROPIC_API_KEY": _NO_KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def asking(self, prompt: str) -> tuple[str, ...]:
        return ("--print", prompt, "--model", "scripted", "--allowedTools", f"mcp__{SERVER}")


class Codex(Client):
    name = "codex"
    label = "Codex"
    wire = "OpenAI Responses"
    package = "@openai/codex"
    program = ("@openai/codex-*/vendor/*/bin/codex",)
    listed = "(?m)^webseam .* enabled "
    calls_it = "mcp__webseam.web_search"
    around = r"Wall time: [\d.]+ seconds\nOutput:\n{}"
    puts = "after `Wall time: 0.3 seconds` and `Output:`"
    most = ("10,000 tokens", 8_000)
    told = 247
    looks = True
    structured = "object"

    def environment(self, model: str) -> dict[str, str]:
        return {"SCRIPTED_KEY": _NO_KEY}

    def prepare(self, home: Path, model: str) -> None:
        file = home / ".codex" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(
            # A model that it knows: it offers others less of what it can, and cuts results at 10,000 bytes.
            'model = "gpt-5.5"\nmodel_provider = "scripted"\nweb_search = "disabled"\n'
            "check_for_update_on_startup = false\n"
            f'[model_providers.scripted]\nname = "scripted"\nbase_url = "{model}/v1"\nwire_api = "responses"\n'
            'env_key = "SCRIPTED_KEY"\n[analytics]\nenabled = false\n',
            "utf-8",
        )

    def shown(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {name: _without_bounds(schema) for name, schema in arguments.items()}

    def asking(self, prompt: str) -> tuple[str, ...]:
        # Codex begins the first turn after a second, without the servers that are not up by then: right for a person,
        # a matter of luck for a test on a busy machine.
        ours = f"mcp_servers.{SERVER}."
        settings = ("-c", f"{ours}required=true", "-c", f'{ours}default_tools_approval_mode="approve"')
        return ("exec", "--skip-git-repo-check", *settings, prompt)


class GeminiCli(Client):
    name = "gemini"
    label = "Gemini CLI"
    wire = "Gemini generateContent"
    package = "@google/gemini-cli"
    program = ("@google/gemini-cli/bundle/gemini.js",)
    node = True
    listed = "✓ webseam: .* - Connected"
    calls_it = "mcp_webseam_web_search"
    around = "<untrusted_context>\n{}\n</untrusted_context>"
    puts = "inside `<untrusted_context>`"
    most = ("40,000 characters", 8_000)
    adds = MappingProxyType({"wait_for_previous": True})
    structured = "text"

    def environment(self, model: str) -> dict[str, str]:
        return {"GOOGLE_GEMINI_BASE_URL": model, "GEMINI_API_KEY": _NO_KEY, "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def prepare(self, home: Path, model: str) -> None:
        _merge(
            home / ".gemini" / "settings.json",
            security={"auth": {"selectedType": "gemini-api-key"}},
            privacy={"usageStatisticsEnabled": False},
            general={"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        )

    def shown(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        wait = (
            "Set to true to wait for all previously requested tools in this turn to complete before starting. Set to"
            " false (or omit) to run in parallel. Use true when this tool depends on the output of previous tools."
        )
        return {**arguments, "wait_for_previous": {"type": "boolean", "description": wait}}

    def asking(self, prompt: str) -> tuple[str, ...]:
        # A model by name: else it first asks one which model is right.
        return ("--yolo", "--model", "gemini-2.5-flash", "--prompt", prompt)


class OpenCode(Client):
    name = "opencode"
    label = "opencode"
    wire = "OpenAI Chat Completions"
    package = "opencode-linux-x64"
    program = ("opencode-linux-x64/bin/opencode",)
    listed = "✓ webseam .*connected"
    calls_it = "webseam_web_search"
    most = ("51,200 bytes, 2,000 lines", 8_000)
    structured = "text"

    def environment(self, model: str) -> dict[str, str]:
        return {f"OPENCODE_DISABLE_{what}": "1" for what in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")}

    def prepare(self, home: Path, model: str) -> None:
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{model}/v1", "apiKey": _NO_KEY},
            "models": {"scripted": {"tool_call": True}},
        }
        _merge(home / ".config" / "opencode" / "opencode.json", provider={"scripted": provider}, share="disabled")

    def asking(self, prompt: str) -> tuple[str, ...]:
        return ("run", "--model", "scripted/scripted", prompt)


class CopilotCli(Client):
    name = "copilot"
    label = "Copilot CLI"
    wire = "OpenAI Chat Completions"
    package = "@github/copilot"
    program = ("@github/copilot-*/copilot",)
    listed = "webseam \\((local|http)\\)"
    calls_it = "webseam-web_search"
    most = ("20,480 bytes", 4_800)
    told = 0
    structured = "both"

    def environment(self, model: str) -> dict[str, str]:
        return {
            "COPILOT_PROVIDER_BASE_URL": f"{model}/v1",
            "COPILOT_MODEL": "scripted",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def prepare(self, home: Path, model: str) -> None:
        # It unpacks itself, 235 MB, into the cache of each new home.
        unpacked = MODULES.parent / "copilot"
        unpacked.mkdir(exist_ok=True)
        cache = home / ".cache"
        cache.mkdir()
        (cache / "copilot").symlink_to(unpacked)

    def shown(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._with_bounds_in_words(schema) for name, schema in arguments.items()}

    def _with_bounds_in_words(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        bounds = ", ".join(f"{name}: {schema[name]}" for name in _BOUNDS if name in schema)
        told = {"description": f"{schema['description']}\n\n{{{bounds}}}"} if bounds else {}
        return _without_bounds(schema) | told

    def asking(self, prompt: str) -> tuple[str, ...]:
        return ("--prompt", prompt, "--allow-tool", SERVER)


CLIENTS: tuple[Client, ...] = (ClaudeCode(), Codex(), GeminiCli(), OpenCode(), CopilotCli())
