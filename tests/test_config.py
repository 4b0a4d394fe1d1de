import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.config import (
    CORE,
    PROJECT_FILE,
    PROVIDER_COMMON,
    Layer,
    Setting,
    Settings,
    SettingsSource,
    cache_folder,
    check,
    config_folder,
    core_setting,
    environment_name,
    find_setting,
    nearest,
    state_folder,
)
from webseam.errors import SettingsError

SECTIONS = {
    "some_engine": (*PROVIDER_COMMON, Setting(name="depth", choices=("basic", "deep"), default="basic", env=("DEPTH",)))
}
COUNT = core_setting("search", "count")
KEY = PROVIDER_COMMON[0]


class Files:
    """A user file, a project folder and an environment of their own."""

    def __init__(self, root: Path) -> None:
        self.user = root / "user"
        self.project = root / "project"
        self.user.mkdir()
        self.project.mkdir()
        self.user_file = self.user / "config.toml"
        self.project_file = self.project / PROJECT_FILE

    def source(self, environment: Mapping[str, str] = {}, *, folder: Path | None = None) -> SettingsSource:
        return SettingsSource(
            lambda section: SECTIONS.get(section.replace("-", "_")),
            environment={"WEBSEAM_CONFIG_DIR": str(self.user), **environment},
            folder=folder or self.project,
            sections=lambda: SECTIONS,
        )

    def settings(self, environment: Mapping[str, str] = {}) -> Settings:
        return self.source(environment).current()


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_flags_win_over_environment_project_file_user_file_and_default(files: Files) -> None:
    files.user_file.write_text("[search]\ncount = 2\n")
    files.project_file.write_text("[search]\ncount = 3\n")
    environment = {"WEBSEAM_SEARCH_COUNT": "4"}
    everything = files.settings(environment).override({("search", "count"): 5})
    seen = [everything.read("search", COUNT), files.settings(environment).read("search", COUNT)]
    seen.append(files.settings().read("search", COUNT))
    files.project_file.unlink()
    seen.append(files.settings().read("search", COUNT))
    files.user_file.unlink()
    seen.append(files.settings().read("search", COUNT))
    assert seen == [
        (5, "command line"),
        (4, "WEBSEAM_SEARCH_COUNT"),
        (3, str(files.project_file)),
        (2, str(files.user_file)),
        (10, "default"),
    ]


def test_our_own_variable_wins_over_the_one_that_a_services_users_know() -> None:
    depth = SECTIONS["some_engine"][-1]
    both = {"WEBSEAM_SOME_ENGINE_DEPTH": "deep", "DEPTH": "basic"}
    assert Settings(both).read("some_engine", depth) == ("deep", "WEBSEAM_SOME_ENGINE_DEPTH")
    assert Settings({"DEPTH": "deep"}).read("some_engine", depth) == ("deep", "DEPTH")


@pytest.mark.parametrize("word", ["", "   ", "undefined", "null", "NULL", " Undefined "])
def test_a_variable_that_nobody_set_counts_as_unset(word: str) -> None:
    settings = Settings({"WEBSEAM_SEARCH_COUNT": word, "ONE": word, "TWO": " set "})
    assert settings.read("search", COUNT) == (10, "default")
    assert settings.variable("ONE", "TWO") == "set"
    assert settings.variable("ONE", "MISSING") is None


def test_call_arguments_pile_up_and_leave_the_settings_below_as_they_were() -> None:
    base = Settings({"WEBSEAM_SEARCH_COUNT": "4"})
    more = base.override({("search", "count"): 7}).override({("search", "strict"): True})
    assert (more.get("search", "count"), more.get("search", "strict")) == (7, True)
    assert (base.get("search", "count"), base.get("search", "strict")) == (4, False)


@pytest.mark.parametrize(
    "section, key, name",
    [
        ("search", "provider_timeout", "WEBSEAM_SEARCH_PROVIDER_TIMEOUT"),
        ("exa-free", "api_key", "WEBSEAM_EXA_FREE_API_KEY"),
        ("net", "ca_bundle", "WEBSEAM_NET_CA_BUNDLE"),
    ],
)
def test_every_setting_has_an_environment_name(section: str, key: str, name: str) -> None:
    assert environment_name(section, key) == name


@pytest.mark.parametrize(
    "kind, raw, value",
    [
        pytest.param("text", "words", "words", id="text"),
        pytest.param("text", 5, "5", id="a number as text"),
        pytest.param("whole", "7", 7, id="whole from text"),
        pytest.param("whole", 7, 7, id="whole"),
        pytest.param("number", "0.5", 0.5, id="number from text"),
        pytest.param("number", 2, 2.0, id="number"),
        pytest.param("switch", True, True, id="switch"),
        pytest.param("switch", " ON ", True, id="switch on"),
        pytest.param("switch", "yes", True, id="switch yes"),
        pytest.param("switch", 1, True, id="switch 1"),
        pytest.param("switch", "0", False, id="switch 0"),
        pytest.param("switch", "No", False, id="switch no"),
        pytest.param("list", "a, b,,c ", ("a", "b", "c"), id="list from text"),
        pytest.param("list", ["a", " b "], ("a", "b"), id="list"),
        pytest.param("list", [], (), id="empty list"),
    ],
)
def test_a_value_becomes_what_its_setting_holds(kind: Any, raw: object, value: object) -> None:
    assert check(Setting(name="k", kind=kind), raw, "s", "here") == value


@pytest.mark.parametrize(
    "setting, raw, problem",
    [
        pytest.param(Setting(name="k"), True, "True in here is not text", id="text"),
        pytest.param(Setting(name="k"), ["sk-12345"], "a list in here is not text", id="text from a list"),
        pytest.param(Setting(name="k"), {"pin": "sk-12345"}, "a table in here is not text", id="text from a table"),
        pytest.param(Setting(name="k", kind="whole"), "ten", "'ten' in here is not a whole number", id="whole"),
        pytest.param(Setting(name="k", kind="whole"), 1.5, "1.5 in here is not a whole number", id="fraction"),
        pytest.param(Setting(name="k", kind="whole"), True, "True in here is not a whole number", id="whole switch"),
        pytest.param(Setting(name="k", kind="number"), "fast", "'fast' in here is not a number", id="number"),
        pytest.param(Setting(name="k", kind="number"), "nan", "'nan' in here is not a number", id="not a number"),
        pytest.param(Setting(name="k", kind="number"), "inf", "'inf' in here is not a number", id="infinite"),
        pytest.param(Setting(name="k", kind="number"), 10**400, "the value in here is not a number", id="huge"),
        pytest.param(Setting(name="k"), 16**5000, "the value in here is not text", id="text from a huge one"),
        pytest.param(
            Setting(name="k", kind="whole"), "9" * 5000, "the value in here is not a whole number", id="nines"
        ),
        pytest.param(
            Setting(name="k", kind="whole", high=9), 16**5000, "the value in here is not from 0 to 9", id="hex"
        ),
        pytest.param(Setting(name="k", kind="whole", low=0), 2**63, "the value in here is too large", id="too large"),
        pytest.param(Setting(name="k", kind="switch"), 16**5000, "the value in here is not true or false", id="no bit"),
        pytest.param(Setting(name="k", kind="switch"), "maybe", "'maybe' in here is not true or false", id="switch"),
        pytest.param(Setting(name="k", kind="list"), [1], "a list in here is not a list of words", id="list"),
        pytest.param(Setting(name="k", kind="list"), 1, "1 in here is not a list of words", id="no list"),
        pytest.param(Setting(name="k", choices=("a", "b")), "c", "'c' in here is not one of a, b", id="no choice"),
        pytest.param(
            Setting(name="k", kind="whole", low=1, high=9), "0", "'0' in here is not from 1 to 9", id="too low"
        ),
        pytest.param(Setting(name="k", kind="number", low=0), -1, "-1 in here is not at least 0", id="below"),
        pytest.param(Setting(name="k", kind="whole", high=9), 10, "10 in here is not from 0 to 9", id="above"),
        pytest.param(Setting(name="k", secret=True), ["sk-12345"], "the value in here is not text", id="a secret"),
        *(
            pytest.param(Setting(name="k", kind="number"), value, "the value in here is not a number", id=value[:24])
            for value in (
                "http://bob:hunter2@proxy.example",
                "bob:hunter2",
                "bob@example.org",
                "?pin=1234",
                "my api_key",
                "Bearer abc",
                "sk-12345",
                "0123456789ab",
                "tvly-dev-abcdefgh1234",
                "word " * 9,
            )
        ),
    ],
)
def test_a_malformed_value_names_its_key_its_source_and_what_would_be_right(
    setting: Setting, raw: object, problem: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        check(setting, raw, "s", "here")
    assert (caught.value.field, caught.value.detail) == ("s.k", f"s.k: {problem}")


@given(
    st.sampled_from(["text", "whole", "number", "switch", "list"]),
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers() | st.text())),
)
def test_any_value_is_converted_or_refused(kind: Any, raw: object) -> None:
    try:
        value = check(Setting(name="k", kind=kind, low=0), raw, "s", "here")
    except SettingsError:
        return
    assert type(value) is {"text": str, "whole": int, "number": float, "switch": bool, "list": tuple}[kind]


def test_a_malformed_variable_is_refused_when_it_is_read() -> None:
    with pytest.raises(SettingsError, match=r"search.count: 'ten' in WEBSEAM_SEARCH_COUNT is not a whole number"):
        Settings({"WEBSEAM_SEARCH_COUNT": "ten"}).get("search", "count")


@pytest.mark.parametrize(
    "written, problem, hint",
    [
        pytest.param(
            "[serch]\ncount = 1", "section [serch]: 'serch' is not known", "did you mean search?", id="section"
        ),
        pytest.param(
            "[some_engin]\ndepth = 'deep'",
            "section [some_engin]: 'some_engin' is not known",
            "did you mean some_engine?",
            id="provider's section",
        ),
        pytest.param("[zzzz]\na = 1", "section [zzzz]: 'zzzz' is not known", None, id="nothing like it"),
        pytest.param("[search]\ncont = 1", "search.cont: 'cont' is not known", "did you mean count?", id="key"),
        pytest.param(
            "[some_engine]\ndeph = 'deep'", "some_engine.deph: 'deph' is not known", "did you mean depth?", id="its key"
        ),
        pytest.param("count = 1", "count: must stand in a section", "write [search] count = …", id="no section"),
        pytest.param(
            "[search]\ncount = 1000", "search.count: 1000 in {file} is not from 1 to 100", None, id="out of range"
        ),
        pytest.param(
            "[search]\norder = 'a'\ntimeout = 'soon'",
            "search.timeout: 'soon' in {file} is not a number",
            None,
            id="wrong kind",
        ),
        pytest.param(
            "[some-engine]\ndepth = 'bottomless'",
            "some-engine.depth: 'bottomless' in {file} is not one of basic, deep",
            None,
            id="no choice",
        ),
        pytest.param(
            "[some_engine]\napi_key = ['sk-12345']",
            "some_engine.api_key: the value in {file} is not text",
            None,
            id="a secret is not repeated",
        ),
        pytest.param('["\\u001b[2Jx"]\na = 1', "section [x]: '\\x1b[2Jx' is not known", None, id="escape in a name"),
        pytest.param(
            '"\\u001b[2Jx" = 1', "x: must stand in a section", "write [search] x = …", id="escape, no section"
        ),
    ],
)
@pytest.mark.parametrize("which", ["user_file", "project_file"])
def test_a_wrong_settings_file_is_an_error_that_names_file_line_and_key(
    files: Files, which: str, written: str, problem: str, hint: str | None
) -> None:
    file: Path = getattr(files, which)
    file.write_text(written, "utf-8")
    with pytest.raises(SettingsError) as caught:
        files.settings()
    line = len(written.splitlines())  # each mistake stands on the last one
    place = file if "\\u" in written else f"{file}:{line}"  # a name with escapes is not looked for
    assert (caught.value.detail, caught.value.hint) == (f"{place}: {problem.format(file=file)}", hint)
    assert "sk-12345" not in str(caught.value)


@pytest.mark.parametrize(
    "contents",
    [
        pytest.param(b"[search\n", id="not TOML"),
        pytest.param(b"\xff\xfe[search]", id="not UTF-8"),
        pytest.param(b"x = " + b"[" * 100_000, id="nested too deeply"),
        pytest.param(b"[search]\ncount = 1\ncount = 2\n", id="the same key twice"),
    ],
)
def test_a_file_that_is_not_toml_is_named(files: Files, contents: bytes) -> None:
    files.user_file.write_bytes(contents)
    with pytest.raises(SettingsError) as caught:
        files.settings()
    assert caught.value.field == str(files.user_file)
    assert caught.value.detail.startswith(f"{files.user_file}: is not TOML: ")


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        pytest.param("9" * 5000, "{file}: holds a number that is too large", id="nines"),
        pytest.param("-" + "9" * 5000, "{file}: holds a number that is too large", id="minus"),
        pytest.param(
            "0x" + "f" * 5000, "{file}:2: search.count: the value in {file} is not from 1 to 100", id="hexadecimal"
        ),
        pytest.param(
            "[0x" + "f" * 5000 + "]", "{file}:2: search.count: a list in {file} is not a whole number", id="list"
        ),
    ],
)
@pytest.mark.parametrize("which", ["user_file", "project_file"])
def test_a_number_of_thousands_of_digits_is_refused_like_any_other_mistake(
    files: Files, which: str, number: str, problem: str
) -> None:
    file: Path = getattr(files, which)
    file.write_text(f"[search]\ncount = {number}\n")
    with pytest.raises(SettingsError) as caught:
        files.settings()
    assert caught.value.detail == problem.format(file=file)


@pytest.mark.parametrize(
    "key, raw",
    [("max_calls_day", 2**63), ("max_calls_month", int("9" * 40)), ("max_calls_day", "9" * 40)],
)
def test_a_budget_holds_no_number_that_nothing_could_count_to(key: str, raw: object) -> None:
    with pytest.raises(SettingsError, match="the value in here is too large"):
        check(core_setting("budget", key), raw, "budget", "here")
    assert check(core_setting("budget", key), 2**63 - 1, "budget", "here") == 2**63 - 1


def test_an_untrusted_project_may_not_switch_the_shared_count_of_budgets_off(files: Files) -> None:
    files.project_file.write_text("[state]\nenabled = false\n")
    settings = files.settings()
    assert settings.get("state", "enabled") is True
    assert [warning.split(" is ignored")[0] for warning in settings.warnings] == [
        f"{files.project_file}: state.enabled"
    ]
    files.user_file.write_text("[state]\nenabled = false\n")
    assert files.settings().get("state", "enabled") is False


@pytest.mark.parametrize("section", ["serch", "some_engin"])
def test_a_misspelt_section_is_an_error_also_when_nothing_is_in_it(files: Files, section: str) -> None:
    files.user_file.write_text(f"[search]\n[some_engine]\n[net]\n\n[{section}]\n")
    with pytest.raises(SettingsError) as caught:
        files.settings()
    assert caught.value.detail == f"{files.user_file}:5: section [{section}]: '{section}' is not known"


def test_a_folder_in_place_of_a_file_is_named(files: Files) -> None:
    files.user_file.mkdir()
    with pytest.raises(SettingsError, match=r"config\.toml: cannot be read"):
        files.settings()


@pytest.mark.parametrize(
    ("mode", "text", "warned"),
    [
        pytest.param(0o644, "[some_engine]\napi_key = 'sk-12345'\n", True, id="a key that others can read"),
        pytest.param(0o600, "[some_engine]\napi_key = 'sk-12345'\n", False, id="a key for its owner alone"),
        pytest.param(0o644, "[search]\ncount = 3\n", False, id="nothing secret"),
    ],
)
def test_a_settings_file_with_a_key_that_others_can_read_is_a_warning(
    files: Files, mode: int, text: str, warned: bool
) -> None:
    files.user_file.write_text(text)
    files.user_file.chmod(mode)
    path = files.user_file
    expected = (f"{path} holds keys and can be read by others: chmod 600 {path}",) if warned else ()
    assert files.settings().warnings == expected


@pytest.mark.parametrize(
    ("user", "project", "kept"),
    [
        pytest.param("", "local_only = true", (True, None, None), id="may keep queries here"),
        pytest.param("local_only = true", "local_only = false", (True, None, None), id="may not let them out"),
        pytest.param("deny = ['a']", "deny = ['b']", (False, None, ("a", "b")), id="may deny more"),
        pytest.param("allow = ['a', 'b']", "allow = ['b', 'c']", (False, ("b",), None), id="may allow fewer"),
        pytest.param("allow = ['a']", "allow = ['c']", (False, ("a",), None), id="may not allow others"),
    ],
)
def test_an_untrusted_project_may_only_tighten_who_receives_queries(
    files: Files, user: str, project: str, kept: tuple[object, ...]
) -> None:
    files.user_file.write_text(f"[search]\n{user}\n")
    files.project_file.write_text(f"[search]\n{project}\n")
    settings = files.settings()
    assert tuple(settings.get("search", key) for key in ("local_only", "allow", "deny")) == kept


def test_an_untrusted_project_may_switch_a_provider_off_but_not_on(files: Files) -> None:
    enabled = next(setting for setting in SECTIONS["some_engine"] if setting.name == "enabled")
    files.project_file.write_text("[some_engine]\nenabled = false\n")
    assert files.settings().read("some_engine", enabled)[0] is False
    files.user_file.write_text("[some_engine]\nenabled = false\n")
    files.project_file.write_text("[some_engine]\nenabled = true\n")
    assert files.settings().read("some_engine", enabled)[0] is False


def test_a_byte_order_mark_is_no_part_of_a_settings_file(files: Files) -> None:
    files.user_file.write_bytes(b"\xef\xbb\xbf[search]\ncount = 3\n")
    assert files.settings().get("search", "count") == 3


def test_a_section_may_be_written_like_the_provider_it_is_for(files: Files) -> None:
    files.user_file.write_text("[some-engine]\ndepth = 'deep'\n")
    assert files.settings().read("some_engine", SECTIONS["some_engine"][-1]) == ("deep", str(files.user_file))


GUARDED = """
[search]
count = 3
[net]
proxy = "http://proxy.example:3128"
[fetch]
allow = ["10.0.0.0/8"]
[trust]
folders = ["/"]
[some_engine]
api_key = "sk-planted"
base_url = "http://evil.example"
depth = "deep"
"""


def test_a_project_file_may_not_set_keys_or_addresses_in_a_folder_that_is_not_trusted(files: Files) -> None:
    files.project_file.write_text(GUARDED)
    settings = files.settings()
    seen = [settings.get("search", "count"), settings.get("net", "proxy"), settings.get("fetch", "allow")]
    seen += [settings.read("some_engine", setting)[0] for setting in SECTIONS["some_engine"]]
    assert seen == [3, None, None, None, None, None, True, *[None] * 5, "deep"]
    ignored = ("net.proxy", "fetch.allow", "trust.folders", "some_engine.api_key", "some_engine.base_url")
    assert settings.warnings == tuple(
        f"{files.project_file}: {name} is ignored because this folder is not trusted "
        f"(webseam config set trust.folders {files.project})"
        for name in ignored
    )


@pytest.mark.parametrize("by", ["user file", "environment", "parent folder", "link"])
def test_a_trusted_folder_may_set_anything(files: Files, tmp_path: Path, by: str) -> None:
    files.project_file.write_text(GUARDED)
    link = tmp_path / "link"
    link.symlink_to(files.project)
    folder = {"parent folder": tmp_path, "link": link}.get(by, files.project)
    environment = {"WEBSEAM_TRUST_FOLDERS": str(folder)} if by == "environment" else {}
    if not environment:
        files.user_file.write_text(f"[trust]\nfolders = ['{folder}']\n")
    settings = files.settings(environment)
    assert (settings.read("some_engine", KEY), settings.warnings) == (("sk-planted", str(files.project_file)), ())


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(".", id="wherever one is"),
        pytest.param("{root}/proj", id="a name that starts alike"),
        pytest.param("{root}/project/below", id="a folder below"),
        pytest.param("{root}/other", id="another folder"),
    ],
)
def test_trust_does_not_reach_other_folders(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    monkeypatch.chdir(files.project)
    files.project_file.write_text(GUARDED)
    files.user_file.write_text(f"[trust]\nfolders = ['{entry.format(root=tmp_path)}']\n")
    assert files.settings().read("some_engine", KEY) == (None, "default")


def test_a_way_around_through_a_trusted_folder_is_not_trusted(files: Files, tmp_path: Path) -> None:
    trusted = tmp_path / "trusted"
    trusted.mkdir()
    files.project_file.write_text(GUARDED)
    files.user_file.write_text(f"[trust]\nfolders = ['{trusted}']\n")
    settings = files.source(folder=trusted / ".." / "project").current()
    assert settings.read("some_engine", KEY) == (None, "default")


def test_the_nearest_project_file_counts(files: Files) -> None:
    below = files.project / "a" / "b"
    below.mkdir(parents=True)
    files.project_file.write_text("[search]\ncount = 3\n")
    assert files.source(folder=below).project_file == files.project_file
    (below / PROJECT_FILE).write_text("[search]\ncount = 4\n")
    assert files.source(folder=below).current().get("search", "count") == 4


def test_a_removed_current_folder_has_no_project_file(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert SettingsSource(SECTIONS.get, environment={"WEBSEAM_CONFIG_DIR": str(files.user)}).project_file is None


@pytest.mark.parametrize("which", ["user_file", "project_file"])
def test_a_changed_file_is_read_again_and_a_snapshot_stays_as_it_was(files: Files, which: str) -> None:
    file: Path = getattr(files, which)
    file.write_text("[search]\ncount = 3\n")
    source = files.source()
    first = source.current()
    assert source.current() is first
    beside = file.with_suffix(".new")
    beside.write_text("[search]\ncount = 4\n")  # the same size; times within one tick must not hide it
    os.utime(beside, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    beside.replace(file)
    second = source.current()
    file.unlink()
    counts = [settings.get("search", "count") for settings in (first, second, source.current())]
    assert counts == [3, 4, 10]


def test_a_mistake_is_reported_until_it_is_mended(files: Files) -> None:
    files.user_file.write_text("[search]\ncount = 'x'\n")
    source = files.source()
    for _ in range(2):
        with pytest.raises(SettingsError):
            source.current()
    files.user_file.write_text("[search]\ncount = 5\n")
    assert source.current().get("search", "count") == 5


def test_keys_show_in_no_repr(files: Files) -> None:
    files.user_file.write_text("[some_engine]\napi_key = 'sk-secret'\n")
    settings = files.settings({"WEBSEAM_SOME_ENGINE_API_KEY": "sk-secret"})
    layer = Layer("here", {("some_engine", "api_key"): "sk-secret"})
    assert "sk-secret" not in repr(settings) + repr(settings.layers) + repr(layer) + repr(files.source())


@pytest.mark.parametrize(
    "word, known, found",
    [
        ("tavly", ["exa", "tavily"], "tavily"),
        ("provider_timout", ["timeout", "provider_timeout"], "provider_timeout"),
        ("zzz", ["exa", "tavily"], None),
        ("", ["exa"], None),
    ],
)
def test_the_nearest_known_name_is_proposed(word: str, known: list[str], found: str | None) -> None:
    assert nearest(word, known) == found


def test_a_setting_is_found_by_section_and_key() -> None:
    assert find_setting("search", "count", SECTIONS.get, lambda: SECTIONS) == COUNT
    assert find_setting("some_engine", "api_key", SECTIONS.get, lambda: SECTIONS) == KEY
    with pytest.raises(SettingsError, match=r"did you mean base_url\?"):
        find_setting("some_engine", "baseurl", SECTIONS.get, lambda: SECTIONS)


def test_what_reaches_outside_is_guarded() -> None:
    guarded = {f"{section}.{setting.name}" for section in CORE for setting in CORE[section] if setting.guarded}
    assert guarded >= {"fetch.allow", "index.folders", "net.ca_bundle", "net.local_dns", "net.proxy", "trust.folders"}
    assert "state.enabled" in guarded
    budgets = [f"max_{unit}_{period}" for unit in ("calls", "dollars") for period in ("day", "month")]
    assert [setting.name for setting in PROVIDER_COMMON if setting.guarded] == [
        "api_key",
        "base_url",
        "price",
        *budgets,
    ]


def test_folders_come_from_the_environment_or_the_platform(tmp_path: Path) -> None:
    environment = {f"WEBSEAM_{kind}_DIR": f"{tmp_path}/{kind}" for kind in ("CONFIG", "STATE", "CACHE")}
    asked = [config_folder(environment), state_folder(environment), cache_folder(environment)]
    assert asked == [tmp_path / "CONFIG", tmp_path / "STATE", tmp_path / "CACHE"]
    assert all("webseam" in str(folder({"WEBSEAM_CONFIG_DIR": "  "})) for folder in (config_folder, state_folder))
    assert config_folder({"WEBSEAM_CONFIG_DIR": "~/settings"}) == Path.home() / "settings"
