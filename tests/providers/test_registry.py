import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from webseam import providers
from webseam.config import PROVIDER_COMMON
from webseam.errors import SettingsError
from webseam.model import Kind
from webseam.providers.base import OPTIONS, Provider, Support

FOLDER = Path(providers.__file__).parent


def test_the_providers_come_in_the_default_order_and_those_to_be_named_last() -> None:
    ranks = [provider.rank for provider in providers.every()]
    ranked = [rank for rank in ranks if rank is not None]
    assert ranks == sorted(ranked) + [None] * (len(ranks) - len(ranked))
    ours = {"exa", "searxng", "tavily", "brave", "exa-free", "duckduckgo", "local"}
    assert [name for name in providers.ids() if name in ours] == [
        "exa", "searxng", "tavily", "brave", "exa-free", "duckduckgo", "local",
    ]  # fmt: skip


def test_a_provider_is_a_file_of_its_name() -> None:
    for name in providers.ids():
        assert (FOLDER / f"{providers.section_of(name)}.py").is_file()
        assert providers.get(name).id == name
        assert providers.get(name) is providers.get(name)


@pytest.mark.parametrize("name", providers.ids())
def test_a_provider_declares_all_that_others_show_of_it(name: str) -> None:
    provider = providers.get(name)
    assert isinstance(provider, Provider)
    assert provider.label
    assert bool(provider.receives) is not provider.local
    assert set(provider.options) <= set(OPTIONS)
    assert set(provider.kinds) <= set(Kind.__args__)  # type: ignore[attr-defined]
    assert {type(support) for support in [*provider.options.values(), *provider.kinds.values()]} <= {Support}
    assert provider.max_count >= 1
    assert provider.max_query >= 1
    assert provider.interval >= 0
    assert provider.key in ("required", "optional", "none")
    assert provider.keyless_for is None or provider.keyless_for in providers.ids()
    names = [setting.name for setting in provider.schema()]
    assert names[: len(PROVIDER_COMMON)] == [setting.name for setting in PROVIDER_COMMON]
    assert len(names) == len(set(names))


def test_no_two_providers_listen_to_the_same_variable_for_a_key() -> None:
    names = [name for provider in providers.every() for name in (*provider.key_env, *provider.key_file_env)]
    assert len(names) == len(set(names))


def test_a_section_is_the_id_with_underscores() -> None:
    assert providers.section_of("exa-free") == "exa_free"
    assert sorted(providers.sections()) == sorted(map(providers.section_of, providers.ids()))
    assert providers.schema_of("exa_free") == providers.get("exa-free").schema()
    assert providers.schema_of("nobody") is None


@pytest.mark.parametrize(
    "name, hint",
    [
        ("tavly", "did you mean tavily?"),
        ("exafree", "did you mean exa-free?"),
        ("Brave", "did you mean brave?"),
        ("duckduck", "did you mean duckduckgo?"),
        ("zzzzzz", None),
        ("", None),
        ("base", "did you mean brave?"),
        ("../exa", "did you mean exa?"),
    ],
)
def test_an_unknown_provider_is_an_error_that_names_the_nearest(name: str, hint: str | None) -> None:
    with pytest.raises(SettingsError) as caught:
        providers.get(name)
    assert (caught.value.detail, caught.value.hint) == (f"provider: {name!r} is not known", hint)


PACKAGE = """
from webseam.config import Setting
from webseam.net.message import Request
from webseam.providers.base import NATIVE, Hits, Provider

class Example(Provider):
    id = "example-search"
    label = "Example"
    receives = "Example (example.org)"
    rank = 15
    base_url = "https://api.example.org"
    key_env = ("EXAMPLE_KEY",)
    settings = (Setting(name="depth", default="basic"),)
    options = {"freshness": NATIVE}

    def request(self, search, config):
        return Request("GET", config.url("/search"))

    def parse(self, reply, search, config):
        return Hits(self.id).parsed()

class Imposter(Example):
    id = "somebody-else"

class Taken(Example):
    id = "exa"

class Plain:
    id = "no-provider"
"""

ENTRY_POINTS = """
[webseam.providers]
example-search = webseam_example:Example
imposter = webseam_example:Imposter
no-provider = webseam_example:Plain
no-module = webseam_missing:Example
no-class = webseam_example:Missing
broken = webseam_broken:Example
exa = webseam_example:Taken
"""

QUESTIONS = """
import json, os
from webseam import providers
from webseam.config import Settings
from webseam.errors import SettingsError
from webseam.providers.setup import configure
from webseam.secrets import SavedKeys

def asked(question):
    try:
        return question()
    except SettingsError as error:
        return [error.detail, error.hint]

example = providers.get("example-search")
settings = Settings({"EXAMPLE_KEY": "k", "WEBSEAM_EXAMPLE_SEARCH_DEPTH": "deep"})
config = configure(example, settings, SavedKeys(os.environ))
print(json.dumps({
    "example": [example.label, example.rank, example.local],
    "config": [config.key, config.base_url, config.values],
    "schema": [setting.name for setting in providers.schema_of("example_search")],
    "in sections": "example_search" in providers.sections(),
    "exa": providers.get("exa").label,
    "near": asked(lambda: providers.get("example-serch")),
    **{name: asked(lambda: providers.get(name).id)
       for name in ("imposter", "no-provider", "no-module", "no-class", "broken")},
}))
"""

ORDER = "import json; from webseam import providers; print(json.dumps(providers.ids()))"


def install(folder: Path, entry_points: str) -> dict[str, str]:
    """Put a small distribution into `folder`; return the environment of a process that has it installed."""
    info = folder / "webseam_example-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: webseam-example\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    (folder / "webseam_example.py").write_text(PACKAGE)
    (folder / "webseam_broken.py").write_text("raise OSError('no licence file')\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, sys.path)])}


def run(code: str, environment: dict[str, str]) -> Any:
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_another_package_registers_a_provider_by_an_entry_point(tmp_path: Path) -> None:
    answers = run(QUESTIONS, install(tmp_path, ENTRY_POINTS))
    cannot = "provider: '{}' cannot be loaded from {}: {}"
    assert answers == {
        "example": ["Example", 15, False],
        "config": ["k", "https://api.example.org", {"depth": "deep"}],
        "schema": [*(setting.name for setting in PROVIDER_COMMON), "depth"],
        "in sections": True,
        "exa": "Exa",
        "near": ["provider: 'example-serch' is not known", "did you mean example-search?"],
        "imposter": ["provider: 'imposter' is not a provider of that id", None],
        "no-provider": ["provider: 'no-provider' is not a provider of that id", None],
        "no-module": [cannot.format("no-module", "webseam_missing", "No module named 'webseam_missing'"), None],
        "no-class": [
            cannot.format("no-class", "webseam_example", "module 'webseam_example' has no attribute 'Missing'"),
            None,
        ],
        "broken": [cannot.format("broken", "webseam_broken", "no licence file"), None],
    }


def test_a_registered_provider_takes_its_place_in_the_order(tmp_path: Path) -> None:
    entry = "[webseam.providers]\nexample-search = webseam_example:Example\n"
    names = run(ORDER, install(tmp_path, entry))
    assert [name for name in names if name in ("exa", "example-search", "searxng")] == [
        "exa",
        "example-search",
        "searxng",
    ]


BROKEN = "import json; from webseam import providers; print(json.dumps([providers.ids(), providers.broken]))"


def test_a_broken_package_is_left_out_and_named_instead_of_ending_search_for_everybody(tmp_path: Path) -> None:
    names, broken = run(BROKEN, install(tmp_path, ENTRY_POINTS))

    assert "example-search" in names
    assert "exa" in names
    assert broken == {
        "broken": "provider: 'broken' cannot be loaded from webseam_broken: no licence file",
        "imposter": "provider: 'imposter' is not a provider of that id",
        "no-class": "provider: 'no-class' cannot be loaded from webseam_example: "
        "module 'webseam_example' has no attribute 'Missing'",
        "no-module": "provider: 'no-module' cannot be loaded from webseam_missing: No module named 'webseam_missing'",
        "no-provider": "provider: 'no-provider' is not a provider of that id",
    }
