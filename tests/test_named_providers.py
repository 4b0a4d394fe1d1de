"""Providers a user sets up under names of their own: one table in the settings file, `[providers.KIND.NAME]`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.world import webseam_command
from webseam import providers
from webseam.config import SettingsSource, split_name
from webseam.errors import SettingsError
from webseam.settings_file import line_of
from webseam.web import AsyncWeb

PROGRAM = "import json, sys; print(json.dumps([{'url': 'https://example.org/' + sys.argv[1], 'title': 'Found'}]))"


def user_file() -> Path:
    path = Path(os.environ["WEBSEAM_CONFIG_DIR"]) / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def template(tmp_path: Path, code: str = PROGRAM) -> str:
    script = tmp_path / "search.py"
    script.write_text(code)
    return json.dumps(f"{sys.executable} {script} {{{{query}}}}")


async def test_a_table_in_the_settings_file_is_a_provider_of_that_name(tmp_path: Path) -> None:
    user_file().write_text(f"[providers.command.archive]\ntemplate = {template(tmp_path)}\n")
    async with AsyncWeb() as web:
        response = await web.search("words", provider="archive")
        states = {state.id: state for state in web.provider_states()}
    assert [(hit.url, hit.providers) for hit in response.hits] == [("https://example.org/words", ("archive",))]
    assert (response.sent_to, response.attempts[0].provider) == (("archive",), "archive")
    assert (states["archive"].state, states["archive"].in_auto) == ("ready", False)


async def test_several_of_a_kind_stand_side_by_side_and_next_to_the_kind_itself(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    user_file().write_text(
        f"[providers.command.one]\ntemplate = {template(tmp_path)}\n"
        f"[providers.command.two]\ntemplate = {template(other, PROGRAM.replace('example.org', 'example.net'))}\n"
    )
    async with AsyncWeb() as web:
        response = await web.search("words", provider="fuse:one,two")
    assert sorted(hit.url for hit in response.hits) == ["https://example.net/words", "https://example.org/words"]


async def test_one_in_the_order_of_auto_is_part_of_auto(tmp_path: Path) -> None:
    user_file().write_text(
        f'[search]\norder = ["archive", "exa"]\n[providers.command.archive]\ntemplate = {template(tmp_path)}\n'
    )
    async with AsyncWeb() as web:
        response = await web.search("words")
    assert response.hits[0].providers == ("archive",)


async def test_one_may_be_set_up_by_the_arguments_of_a_program(tmp_path: Path) -> None:
    settings = {"providers.command.archive.template": json.loads(template(tmp_path))}
    async with AsyncWeb(settings) as web:
        assert (await web.search("words", provider="archive")).hits[0].providers == ("archive",)


@pytest.mark.parametrize(
    "written, problem, hint",
    [
        pytest.param(
            "[providers.command.exa]\ntimeout = 1",
            "2: [providers.command.exa]: the name 'exa' is taken",
            "choose another name",
            id="taken",
        ),
        pytest.param(
            "[providers.command.search]\ntimeout = 1",
            "2: [providers.command.search]: the name 'search' is taken",
            "choose another name",
            id="section",
        ),
        pytest.param(
            "[providers.command.Wiki]\ntimeout = 1",
            "2: [providers.command.Wiki]: the name 'Wiki' is not lower-case letters, digits and dashes",
            "choose another name",
            id="letters",
        ),
        pytest.param(
            "[providers.command.fuse]\ntimeout = 1",
            "2: [providers.command.fuse]: the name 'fuse' is not lower-case letters, digits and dashes",
            "choose another name",
            id="mode",
        ),
        pytest.param(
            "[providers.exa.mine]\ntimeout = 1",
            "2: [providers.exa.mine]: exa can be set up once only",
            "write [exa]",
            id="once-only",
        ),
        pytest.param(
            "[providers.exa]\ntimeout = 1", "2: providers.exa: has no name under it", "write [exa]", id="no-name"
        ),
        pytest.param(
            "[providers.comand.wiki]\ntimeout = 1",
            "2: provider: 'comand' is not known",
            "did you mean command?",
            id="kind",
        ),
        pytest.param(
            "[providers.command.wiki]\n\n# a comment\ntemplat = 'x'",
            "4: wiki.templat: 'templat' is not known",
            "did you mean template?",
            id="key",
        ),
        pytest.param(
            "[providers.command.wiki]\ntimeout = 'soon'",
            "2: providers.command.wiki.timeout: 'soon' in {file} is not a number",
            None,
            id="value",
        ),
        pytest.param(
            "[search]\n[providers.command.exa]",
            "2: [providers.command.exa]: the name 'exa' is taken",
            "choose another name",
            id="empty-taken",
        ),
        pytest.param(
            "[search]\n\n[providers.comand.wiki]",
            "3: provider: 'comand' is not known",
            "did you mean command?",
            id="empty-kind",
        ),
        pytest.param(
            "[providers.exa.mine]",
            "1: [providers.exa.mine]: exa can be set up once only",
            "write [exa]",
            id="empty-once-only",
        ),
        pytest.param(
            "[providers.comand]", "1: providers.comand: has no name under it", "write [comand]", id="empty-no-name"
        ),
        pytest.param(
            "[providers]\ncommand = 1", "2: providers.command: has no name under it", "write [command]", id="flat"
        ),
    ],
)
def test_a_mistake_in_such_a_table_is_named_by_file_line_and_key(written: str, problem: str, hint: str | None) -> None:
    user_file().write_text(written + "\n")
    with pytest.raises(SettingsError) as raised:
        AsyncWeb()
    told = f"{user_file()}:{problem.format(file=user_file())}"
    assert (raised.value.detail, raised.value.hint) == (told, hint)


def test_the_variables_of_other_tools_are_not_those_of_a_provider_of_ones_own() -> None:
    named = providers.get("archive", {"archive": "command"})
    assert [setting.env for setting in named.settings] == [()] * len(named.settings)
    assert (named.key_env, named.base_env, named.rank, named.label) == ((), (), None, "archive")


async def test_a_project_that_is_not_trusted_can_name_no_provider(tmp_path: Path) -> None:
    (tmp_path / "webseam.toml").write_text(f"[providers.command.archive]\ntemplate = {template(tmp_path)}\n")
    async with AsyncWeb(folder=tmp_path) as web:
        warnings = web.settings().warnings
        with pytest.raises(SettingsError, match="'archive' is not known"):
            await web.search("words", provider="archive")
    assert [warning.split(": ", 1)[1].split(" because")[0] for warning in warnings] == [
        "providers.command.archive is ignored"
    ]


async def test_a_trusted_project_can(tmp_path: Path) -> None:
    (tmp_path / "webseam.toml").write_text(f"[providers.command.archive]\ntemplate = {template(tmp_path)}\n")
    async with AsyncWeb({"trust.folders": [str(tmp_path)]}, folder=tmp_path) as web:
        assert web.settings().named == {"archive": "command"}
    user_file().write_text(f'[trust]\nfolders = ["{tmp_path}"]\n')
    async with AsyncWeb(folder=tmp_path) as web:
        assert (await web.search("words", provider="archive")).hits[0].providers == ("archive",)


async def test_a_name_is_seen_as_soon_as_the_file_has_it(tmp_path: Path) -> None:
    async with AsyncWeb() as web:
        with pytest.raises(SettingsError):
            await web.search("words", provider="archive")
        user_file().write_text(f"[providers.command.archive]\ntemplate = {template(tmp_path)}\n")
        assert (await web.search("words", provider="archive")).hits[0].providers == ("archive",)


async def test_the_command_line_sets_shows_and_unsets_such_a_table(tmp_path: Path) -> None:
    line = json.loads(template(tmp_path))
    runs = [
        await webseam_command("config", "set", "providers.command.archive.template", line),
        await webseam_command("config", "set", "archive.timeout", "7"),
        await webseam_command("config", "get", "archive.timeout"),
        await webseam_command("config", "get"),
        await webseam_command("search", "words", "-p", "archive", "--urls"),
        await webseam_command("config", "unset", "archive.timeout"),
        await webseam_command("config", "unset", "archive.timeout"),
    ]
    path = user_file()
    assert [run.code for run in runs] == [0] * 7
    assert runs[0].out == f"providers.command.archive.template is set (in {path})\n"
    assert runs[2].out == "7.0\n"
    assert "providers.command.archive.timeout   7.0" in runs[3].out
    assert runs[4].out == "https://example.org/words\n"
    assert [run.out for run in runs[5:]] == [
        f"archive.timeout is no longer set (in {path})\n",
        f"archive.timeout is not set in {path}\n",
    ]
    assert SettingsSource(providers.schema_of, sections=providers.sections).current().named == {"archive": "command"}


@pytest.mark.parametrize(
    "name, place",
    [
        pytest.param("exa.timeout", (("exa",), "timeout", None), id="section"),
        pytest.param("providers.custom.wiki.url", (("providers", "custom", "wiki"), "url", "custom"), id="whole-name"),
        pytest.param("wiki.url", (("providers", "custom", "wiki"), "url", "custom"), id="short-name"),
        pytest.param("a.b.c", (("a.b",), "c", None), id="nonsense"),
    ],
)
def test_a_dotted_name_leads_to_a_table_and_a_key(name: str, place: tuple[tuple[str, ...], str, str | None]) -> None:
    assert split_name(name, {"wiki": "custom"}) == place


@pytest.mark.parametrize("name", ["", "timeout", ".timeout", "exa.", "."])
def test_a_name_without_section_or_key_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="write it as section"):
        split_name(name, {})


async def test_the_shell_completes_such_a_name_and_the_others_when_a_file_is_wrong(tmp_path: Path) -> None:
    environment = {"_WEBSEAM_COMPLETE": "bash_complete", "COMP_WORDS": "webseam search -p arch", "COMP_CWORD": "3"}
    user_file().write_text(f"[providers.command.archive]\ntemplate = {template(tmp_path)}\n")
    found = await webseam_command(env=environment)
    user_file().write_text("[providers.command.archive\n")
    wrong = await webseam_command(env=environment)
    others = await webseam_command(env={**environment, "COMP_WORDS": "webseam search -p duck"})
    assert [(run.code, run.out, run.err) for run in (found, wrong, others)] == [
        (0, "plain,archive\n", ""),
        (0, "\n", ""),
        (0, "plain,duckduckgo\n", ""),
    ]


@pytest.mark.parametrize("written", ["my_wiki", "my-wiki"])
@pytest.mark.parametrize("given", ["my_wiki", "my-wiki"])
async def test_a_name_may_be_written_with_either_sign_and_is_one_table(
    tmp_path: Path, written: str, given: str
) -> None:
    head = f"[providers.command.{written}]\ntemplate = {template(tmp_path)}\n"
    user_file().write_text(f"{head}timeout = 5\n")
    set_ = await webseam_command("config", "set", f"providers.command.{given}.timeout", "7")
    assert (set_.code, user_file().read_text()) == (0, f"{head}timeout = 7.0\n")
    unset = await webseam_command("config", "unset", f"{given}.timeout")
    assert (unset.code, user_file().read_text()) == (0, head)


async def test_tables_that_stand_apart_are_changed_where_they_stand(tmp_path: Path) -> None:
    one, two = (f"[providers.command.{name}]\ntemplate = {template(tmp_path)}\n" for name in ("one", "two"))
    user_file().write_text(f"{one}\n[search]\ncount = 3\n\n{two}")
    assert (await webseam_command("config", "set", "two.timeout", "7")).code == 0
    assert user_file().read_text() == f"{one}\n[search]\ncount = 3\n\n{two}timeout = 7.0\n"
    added = await webseam_command("config", "set", "providers.command.three.template", "x {{query}}")
    assert (added.code, added.err) == (0, "")
    named = SettingsSource(providers.schema_of, sections=providers.sections).current().named
    assert named == {"one": "command", "two": "command", "three": "command"}


FILE = """\
# search = 1
top = 1
[search]
count = 3   # timeout = 4
"timeout" = 4
[ exa ]
timeout=5
[providers.custom."wiki"]
url = "https://example.org/[x]"
[providers.custom]
other.url = 1
[kagi]
label = \"""[you]
count = 1
\\\""" [mojeek]
count = 2
\"""
words = '''
[you]
count = 3'''
list = [
  "a", # ] [
  ["]"],
count = 4
]
inline = "[" # \""" [
[you]
count = 5
"""


@pytest.mark.parametrize(
    "table, key, line",
    [
        pytest.param((), "top", 2, id="top"),
        pytest.param(("search",), "count", 4, id="key"),
        pytest.param(("search",), "timeout", 5, id="quoted"),
        pytest.param(("exa",), "timeout", 7, id="tight"),
        pytest.param(("providers", "custom", "wiki"), "url", 9, id="deep"),
        pytest.param(("providers", "custom", "other"), "url", 11, id="dotted"),
        pytest.param(("exa",), None, 6, id="table"),
        pytest.param(("exa",), "url", None, id="absent"),
        pytest.param(("kagi",), "count", None, id="in-a-text"),
        pytest.param(("kagi",), "list", 21, id="after-texts"),
        pytest.param(("you",), None, 27, id="table-after-texts"),
        pytest.param(("you",), "count", 28, id="key-after-texts"),
        pytest.param(("mojeek",), None, None, id="table-in-a-text"),
    ],
)
def test_the_line_of_a_key_is_found(table: tuple[str, ...], key: str | None, line: int | None) -> None:
    assert line_of(FILE, table, key) == line
