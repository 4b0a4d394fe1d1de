import sys
from pathlib import Path
from typing import Any

import pytest

from webseam.config import Layer, Setting, Settings
from webseam.errors import SettingsError
from webseam.providers import get
from webseam.providers.base import Provider, ProviderConfig
from webseam.providers.setup import configure, enabled, find_key
from webseam.secrets import Key, SavedKeys, fingerprint

SECRET = "sk-planted-5f2c9"


class Some(Provider):
    id = "some-engine"
    label = "Some engine"
    base_url = "https://api.some.example"
    key_env = ("SOME_KEY", "OLD_SOME_KEY")
    key_file_env = ("SOME_KEY_FILE",)
    base_env = ("SOME_URL", "OLD_SOME_URL")
    settings = (
        Setting(name="depth", default="basic", choices=("basic", "deep"), env=("SOME_DEPTH",)),
        Setting(name="password", secret=True),
    )


class Keyless(Some):
    key = "none"


class Fallback(Some):
    base_url = ""

    def address(self, settings: Settings) -> str | None:
        return settings.variable("WEB_SEARCH_API")


SOME = Some()


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SavedKeys:
    monkeypatch.setitem(sys.modules, "keyring", None)
    return SavedKeys({"WEBSEAM_CONFIG_DIR": str(tmp_path / "config")})


def settings(environment: dict[str, str] | None = None, **written: Any) -> Settings:
    values = {("some_engine", name): value for name, value in written.items()}
    return Settings(environment or {}, {}, (Layer("/etc/config.toml", values),))


def test_without_any_setting_a_provider_has_its_defaults(saved: SavedKeys) -> None:
    assert configure(SOME, settings(), saved) == ProviderConfig(
        provider="some-engine",
        base_url="https://api.some.example",
        timeout=15.0,
        values={"depth": "basic", "password": None},
    )


def test_everything_that_was_set_reaches_the_provider(saved: SavedKeys) -> None:
    environment = {"SOME_KEY": SECRET, "SOME_URL": "http://localhost:8080/api/", "SOME_DEPTH": "deep"}
    assert configure(SOME, settings(environment, timeout=3, password="hush"), saved) == ProviderConfig(
        provider="some-engine",
        base_url="http://localhost:8080/api/",
        key=SECRET,
        key_identity=fingerprint(SECRET),
        key_origin="SOME_KEY",
        timeout=3.0,
        values={"depth": "deep", "password": "hush"},
        secrets=("hush", SECRET),
    )


def test_a_key_comes_from_our_variable_its_users_variables_the_files_and_the_saved_keys_in_this_order(
    saved: SavedKeys, tmp_path: Path
) -> None:
    file = tmp_path / "key"
    file.write_text("from-key-file\n")
    saved.set("some-engine", "from-saved")
    environment = {
        "WEBSEAM_SOME_ENGINE_API_KEY": "from-ours",
        "SOME_KEY": "from-first",
        "OLD_SOME_KEY": "from-second",
        "SOME_KEY_FILE": str(file),
    }
    written: dict[str, str] = {"api_key": "from-settings"}
    found = []
    for gone in (*environment, None):
        if gone == "SOME_KEY_FILE":
            found.append(find_key(SOME, settings(environment, **written), saved))
            written.clear()
        found.append(find_key(SOME, settings(environment, **written), saved))
        environment.pop(gone or "", None)
    assert found == [
        Key("from-ours", "WEBSEAM_SOME_ENGINE_API_KEY"),
        Key("from-first", "SOME_KEY"),
        Key("from-second", "OLD_SOME_KEY"),
        Key("from-settings", "/etc/config.toml"),
        Key("from-key-file", f"SOME_KEY_FILE={file}"),
        Key("from-saved", f"saved in {saved.path}"),
    ]


@pytest.mark.parametrize("word", ["", " ", "undefined", "null"])
def test_a_variable_that_nobody_set_gives_its_place_to_the_next(saved: SavedKeys, word: str) -> None:
    environment = {"WEBSEAM_SOME_ENGINE_API_KEY": word, "SOME_KEY": word, "OLD_SOME_KEY": "k", "SOME_URL": word}
    config = configure(SOME, settings(environment), saved)
    assert (config.key, config.key_origin, config.base_url) == ("k", "OLD_SOME_KEY", "https://api.some.example")


def test_a_provider_that_takes_no_key_is_given_none(saved: SavedKeys) -> None:
    saved.set("some-engine", SECRET)
    config = configure(Keyless(), settings({"SOME_KEY": SECRET}, api_key=SECRET), saved)
    assert (config.key, config.key_identity, config.secrets) == ("", "", ())


@pytest.mark.parametrize(
    "contents",
    [
        pytest.param(b"BSA-first\nsecond line\n", id="first line"),
        pytest.param(b"  BSA-first \r\n", id="white space and CRLF"),
        pytest.param(b"\xef\xbb\xbfBSA-first", id="BOM"),
        pytest.param(b"BSA-first\n" + b"x" * 1_000_000, id="a large file"),
    ],
)
def test_brave_api_key_file_names_a_file_whose_first_line_is_the_key(
    saved: SavedKeys, tmp_path: Path, contents: bytes
) -> None:
    file = tmp_path / "key"
    file.write_bytes(contents)
    config = configure(get("brave"), Settings({"BRAVE_API_KEY_FILE": str(file)}), saved)
    assert (config.key, config.key_origin) == ("BSA-first", f"BRAVE_API_KEY_FILE={file}")
    both = Settings({"BRAVE_API_KEY_FILE": str(file), "BRAVE_SEARCH_API_KEY": "direct"})
    assert find_key(get("brave"), both, saved) == Key("direct", "BRAVE_SEARCH_API_KEY")


def test_a_key_file_may_be_below_the_home_folder(saved: SavedKeys) -> None:
    (Path.home() / "brave.key").write_text("BSA-home")
    found = find_key(get("brave"), Settings({"BRAVE_API_KEY_FILE": "~/brave.key"}), saved)
    assert found == Key("BSA-home", "BRAVE_API_KEY_FILE=~/brave.key")


@pytest.mark.parametrize(
    "contents, problem",
    [
        pytest.param(b"", "is empty", id="empty"),
        pytest.param(b"\n" + SECRET.encode(), "is empty", id="empty first line"),
        pytest.param(b"key = " + SECRET.encode(), "has spaces or characters that no key has", id="a settings file"),
        pytest.param(b"\x7fELF" + SECRET.encode(), "has spaces or characters that no key has", id="a program"),
    ],
)
def test_a_key_file_without_a_key_is_named_and_not_repeated(
    saved: SavedKeys, tmp_path: Path, contents: bytes, problem: str
) -> None:
    file = tmp_path / "key"
    file.write_bytes(contents)
    with pytest.raises(SettingsError) as caught:
        configure(SOME, settings({"SOME_KEY_FILE": str(file)}), saved)
    assert caught.value.detail == f"some-engine key: from SOME_KEY_FILE={file} {problem}"
    assert SECRET not in str(caught.value)


def test_a_key_file_that_cannot_be_read_is_named(saved: SavedKeys, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    for path, problem in ((missing, "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(SettingsError) as caught:
            configure(SOME, settings({"SOME_KEY_FILE": str(path)}), saved)
        assert caught.value.detail == f"SOME_KEY_FILE: {path} cannot be read: {problem}"


@pytest.mark.parametrize("bad", [f"{SECRET} {SECRET}", f"{SECRET}\x1b[31m", f"{SECRET}é", f"{SECRET}\udcff"])
def test_a_malformed_key_is_refused_naming_its_source_without_repeating_it(saved: SavedKeys, bad: str) -> None:
    for given, origin in ((settings({"SOME_KEY": bad}), "SOME_KEY"), (settings(api_key=bad), "/etc/config.toml")):
        with pytest.raises(SettingsError) as caught:
            configure(SOME, given, saved)
        assert caught.value.detail == f"some-engine key: from {origin} has spaces or characters that no key has"
        assert caught.value.hint == "copy only the key itself"


def test_a_base_url_comes_from_our_variable_its_users_variables_the_files_and_the_provider_in_this_order(
    saved: SavedKeys,
) -> None:
    environment = {
        "WEBSEAM_SOME_ENGINE_BASE_URL": "http://ours.example",
        "SOME_URL": "http://first.example",
        "OLD_SOME_URL": "http://second.example",
    }
    written = {"base_url": "http://settings.example"}
    found = []
    for gone in list(environment):
        found.append(configure(SOME, settings(environment, **written), saved).base_url)
        environment.pop(gone)
    found.append(configure(SOME, settings(environment, **written), saved).base_url)
    found.append(configure(SOME, settings(), saved).base_url)
    assert found == [
        "http://ours.example",
        "http://first.example",
        "http://second.example",
        "http://settings.example",
        "https://api.some.example",
    ]


def test_an_address_from_a_variable_that_many_tools_share_comes_last(saved: SavedKeys) -> None:
    shared = {"WEB_SEARCH_API": "http://shared.example"}
    assert configure(Fallback(), settings(shared), saved).base_url == "http://shared.example"
    assert (
        configure(Fallback(), settings({**shared, "SOME_URL": "http://own.example"}), saved).base_url
        == "http://own.example"
    )
    assert configure(Fallback(), settings(), saved).base_url == ""


def test_a_shared_address_is_for_searxng_only_when_it_is_named() -> None:
    saved = SavedKeys({"WEBSEAM_CONFIG_DIR": "/nonexistent"})
    environment = {"WEB_SEARCH_API": "http://shared.example"}
    named = {**environment, "WEB_PROVIDER": "searxng"}
    found = [configure(get("searxng"), Settings(variables), saved).base_url for variables in (environment, named)]
    assert found == ["", "http://shared.example"]


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("http://localhost:8080", id="local"),
        pytest.param("https://gateway.example/exa/", id="path and slash"),
        pytest.param("HTTP://[::1]:8080", id="IPv6, capitals"),
        pytest.param("https://bücher.example", id="IDN"),
    ],
)
def test_a_base_url_is_taken_as_it_is(saved: SavedKeys, url: str) -> None:
    assert configure(SOME, settings({"SOME_URL": url}), saved).base_url == url


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("localhost:8080", id="no scheme"),
        pytest.param("api.some.example/search", id="a host alone"),
        pytest.param("ftp://files.example", id="ftp"),
        pytest.param("file:///etc/passwd", id="file"),
        pytest.param("http://", id="no host"),
        pytest.param("https:///search", id="empty host"),
        pytest.param("http://host.example:port", id="port in words"),
        pytest.param("http://host.example:99999", id="port too high"),
        pytest.param("http://host.example:0", id="port 0"),
        pytest.param("http://[::1", id="open bracket"),
        pytest.param("http://host .example", id="space"),
        pytest.param("http://host.example/\nX-Evil: 1", id="line break"),
        pytest.param("http://host.example/\x1b[31m", id="escape"),
        pytest.param(f"http://me:{SECRET}@host.example:port", id="credentials and a bad port"),
    ],
)
def test_a_base_url_that_is_none_is_refused_naming_its_source(saved: SavedKeys, url: str) -> None:
    for given, field in ((settings({"SOME_URL": url}), "SOME_URL"), (settings(base_url=url), "some_engine.base_url")):
        with pytest.raises(SettingsError) as caught:
            configure(SOME, given, saved)
        assert (caught.value.detail, caught.value.hint) == (
            f"{field}: is not an http or https URL",
            "write it like http://localhost:8080",
        )


@pytest.mark.parametrize("user", [f"me:{SECRET}", SECRET, f":{SECRET}", f"me:{SECRET}@x"])
def test_credentials_in_a_base_url_are_refused_and_not_repeated(saved: SavedKeys, user: str) -> None:
    with pytest.raises(SettingsError) as caught:
        configure(SOME, settings({"SOME_URL": f"https://{user}@host.example/"}), saved)
    assert (caught.value.detail, caught.value.hint) == (
        "SOME_URL: holds credentials",
        "set WEBSEAM_SOME_ENGINE_API_KEY instead",
    )
    assert SECRET not in str(caught.value)


def test_a_malformed_setting_names_its_source_and_a_secret_one_is_not_repeated(saved: SavedKeys) -> None:
    with pytest.raises(SettingsError, match=r"some_engine\.depth: 'abyss' in SOME_DEPTH is not one of basic, deep"):
        configure(SOME, settings({"SOME_DEPTH": "abyss"}), saved)
    with pytest.raises(SettingsError) as caught:
        configure(SOME, settings(password=[SECRET]), saved)
    assert caught.value.detail == "some_engine.password: the value in /etc/config.toml is not text"


def test_secrets_show_in_no_repr_of_a_configuration(saved: SavedKeys) -> None:
    config = configure(SOME, settings({"SOME_KEY": SECRET}, password="hush-hush"), saved)
    assert config.secrets == ("hush-hush", SECRET)
    assert SECRET not in repr(config)
    assert "hush-hush" not in repr(config)


def test_a_provider_may_be_switched_off() -> None:
    switched = [settings(), settings(enabled=False), settings({"WEBSEAM_SOME_ENGINE_ENABLED": "off"}, enabled=True)]
    assert [enabled(SOME, given) for given in switched] == [True, False, False]


def test_the_time_for_a_call_is_the_providers_own_or_the_common_one(saved: SavedKeys) -> None:
    common = Settings({"WEBSEAM_SEARCH_PROVIDER_TIMEOUT": "7"})
    own = Settings({"WEBSEAM_SEARCH_PROVIDER_TIMEOUT": "7", "WEBSEAM_SOME_ENGINE_TIMEOUT": "2.5"})
    assert [configure(SOME, given, saved).timeout for given in (common, own)] == [7.0, 2.5]


@pytest.mark.parametrize(
    "base, path, url",
    [
        ("https://a.example", "/search", "https://a.example/search"),
        ("https://a.example/", "/search", "https://a.example/search"),
        ("https://a.example/v1/", "/search", "https://a.example/v1/search"),
        ("https://a.example/search", "/search", "https://a.example/search"),
        ("https://a.example/search/", "/search", "https://a.example/search"),
        ("https://a.example/", "", "https://a.example"),
    ],
)
def test_a_path_is_appended_to_a_base_url_once(base: str, path: str, url: str) -> None:
    assert ProviderConfig(provider="some-engine", base_url=base).url(path) == url
