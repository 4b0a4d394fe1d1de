"""Who is asked, in which order, and why the others are not: decided before anything is sent."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

from webseam import providers
from webseam.config import SettingsSource
from webseam.errors import Outcome, ProviderError, RequestError, SettingsError, WebSeamError
from webseam.search.route import Plan, plan
from webseam.secrets import SavedKeys

NO_KEY = {"exa": "no key (EXA_API_KEY)", "tavily": "no key (TAVILY_API_KEY)", "brave": "no key (BRAVE_API_KEY)"}
ORDER = (
    "exa searxng ollama firecrawl tavily parallel perplexity you jina brave kagi linkup serper serpapi searchapi google"
    " bing mojeek tinyfish kimi zai synthetic exa-free parallel-free duckduckgo local"
).split()
FREE = ["exa-free", "parallel-free", "duckduckgo", "local"]  # what needs nothing set up
KEYED = {"EXA_API_KEY": "key-of-exa", "TAVILY_API_KEY": "key-of-tavily", "BRAVE_API_KEY": "key-of-brave"}
ENDPOINT = {"SEARXNG_URL": "http://127.0.0.1:8888"}
ALL = {**KEYED, **ENDPOINT}


def planned(choice: str | None, environment: dict[str, str] | None = None, **options: Any) -> Plan:
    environment = {**os.environ, **(environment or {})}
    source = SettingsSource(providers.schema_of, environment=environment, sections=providers.sections)
    return plan(choice, source.current(), SavedKeys(environment), **options)


def asked(plan: Plan) -> list[str]:
    return [candidate.id for candidate in plan.candidates]


def known(found: Iterable[str]) -> list[str]:
    """Return those of the providers that this file knows: a new one must not need a line here."""
    return [name for name in found if name in ORDER]


def skipped(plan: Plan) -> dict[str, str | None]:
    assert {attempt.outcome for attempt in plan.skipped} <= {Outcome.UNAVAILABLE}
    return {attempt.provider: attempt.detail for attempt in plan.skipped}


def refused(choice: str, environment: dict[str, str] | None = None, **options: Any) -> WebSeamError:
    with pytest.raises((ProviderError, RequestError)) as raised:
        planned(choice, environment, **options)
    return raised.value


def test_auto_without_any_setting_asks_the_free_ones_and_lists_the_others_with_their_reason() -> None:
    found = planned(None)
    assert (found.kind, asked(found)) == ("chain", FREE)
    reasons = skipped(found)
    assert known(reasons) == [name for name in ORDER if name not in FREE]
    assert {name: reasons[name] for name in ("exa", "searxng", "tavily", "brave")} == {
        "exa": NO_KEY["exa"],
        "searxng": "no address (SEARXNG_URL)",
        "tavily": NO_KEY["tavily"],
        "brave": NO_KEY["brave"],
    }
    assert found.notes == ()


def test_the_default_order_is_this_and_some_are_only_asked_by_name() -> None:
    automatic = [one.id for one in providers.every() if one.rank is not None]
    assert (known(automatic), {"anysearch", "command", "custom"} & set(automatic)) == (ORDER, set())


def test_auto_asks_everything_that_is_set_up_in_the_default_order() -> None:
    found = planned("auto", ALL)
    assert asked(found) == ["exa", "searxng", "tavily", "brave", *FREE]
    assert known(skipped(found)) == [name for name in ORDER if name not in asked(found)]


def test_auto_keeps_the_order_of_the_settings() -> None:
    found = planned("auto", {**ALL, "WEBSEAM_SEARCH_ORDER": "brave, Exa, duckduckgo, exa"})
    assert asked(found) == ["brave", "exa", "duckduckgo"]


@pytest.mark.parametrize(
    ("choice", "environment", "kind", "names"),
    [
        pytest.param("tavily", ALL, "one", ["tavily"], id="a name"),
        pytest.param(" Tavily ", ALL, "one", ["tavily"], id="a name in capitals, with spaces"),
        pytest.param("tavily,exa", ALL, "chain", ["tavily", "exa"], id="a list keeps its order"),
        pytest.param("tavily, exa,tavily", ALL, "chain", ["tavily", "exa"], id="a name given twice counts once"),
        pytest.param("exa,exa", ALL, "one", ["exa"], id="the same name twice is one name"),
        pytest.param("fuse", ALL, "fuse", ["exa", "searxng", "tavily"], id="fuse asks the first three"),
        pytest.param(
            "fuse", {}, "fuse", ["exa-free", "parallel-free", "duckduckgo"], id="fuse leaves this machine out"
        ),
        pytest.param("fuse:brave,exa", ALL, "fuse", ["brave", "exa"], id="fuse of named ones"),
        pytest.param("fuse:duckduckgo", {}, "fuse", ["duckduckgo"], id="fuse of one"),
        pytest.param("fuse", {"WEBSEAM_SEARCH_ALLOW": "local"}, "fuse", ["local"], id="fuse with only this machine"),
    ],
)
def test_a_choice_names_who_is_asked(choice: str, environment: dict[str, str], kind: str, names: list[str]) -> None:
    found = planned(choice, environment)
    assert (found.kind, asked(found)) == (kind, names)


@pytest.mark.parametrize("name", ["WEBSEAM_SEARCH_PROVIDER", "WEB_SEARCH_PROVIDER"])
def test_the_setting_is_the_choice_when_a_call_makes_none(name: str) -> None:
    assert asked(planned(None, {**ALL, name: "brave,exa"})) == ["brave", "exa"]
    assert asked(planned("tavily", {**ALL, name: "brave,exa"})) == ["tavily"]


def test_a_list_skips_what_is_not_set_up_and_says_why() -> None:
    found = planned("tavily,exa", {"EXA_API_KEY": "key-of-exa"})
    assert (found.kind, asked(found), skipped(found)) == ("chain", ["exa"], {"tavily": NO_KEY["tavily"]})


def test_a_pinned_provider_without_a_key_fails_and_says_how_to_get_one() -> None:
    error = refused("tavily")
    assert isinstance(error, ProviderError)
    assert (error.outcome, error.detail, error.hint) == (
        Outcome.UNAVAILABLE,
        "tavily cannot be used: no key (TAVILY_API_KEY)",
        "get a key at tavily.com, then: webseam key set tavily",
    )
    assert [(one.provider, one.outcome, one.detail) for one in error.attempts] == [
        ("tavily", Outcome.UNAVAILABLE, NO_KEY["tavily"])
    ]


def test_exa_without_a_key_is_its_free_tier_and_says_so() -> None:
    found = planned("exa")
    assert (found.kind, asked(found), skipped(found)) == ("one", ["exa-free"], {})
    assert found.notes == ("exa has no key, so exa-free was asked (Exa (mcp.exa.ai) receives the query)",)


def test_exa_with_a_key_is_never_its_free_tier() -> None:
    found = planned("exa", KEYED)
    assert (asked(found), found.notes) == (["exa"], ())


def test_the_free_tier_is_asked_once_when_it_is_named_too() -> None:
    assert asked(planned("exa,exa-free,duckduckgo")) == ["exa-free", "duckduckgo"]


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"WEBSEAM_SEARCH_DENY": "exa-free"}, id="denied"),
        pytest.param({"EXA_FREE_TIER": "off"}, id="switched off"),
        pytest.param({"WEBSEAM_EXA_FREE_ENABLED": "false"}, id="disabled"),
        pytest.param({"WEBSEAM_SEARCH_ALLOW": "exa"}, id="not allowed"),
    ],
)
def test_where_the_free_tier_is_not_wanted_exa_without_a_key_is_exa_without_a_key(environment: dict[str, str]) -> None:
    assert refused("exa", environment).detail == "exa cannot be used: no key (EXA_API_KEY)"


@pytest.mark.parametrize(
    ("choice", "reason", "environment", "options"),
    [
        pytest.param("brave", "in search.deny", {"WEBSEAM_SEARCH_DENY": "Brave,exa"}, {}, id="deny"),
        pytest.param("brave", "not in search.allow", {"WEBSEAM_SEARCH_ALLOW": "EXA"}, {}, id="allow"),
        pytest.param("brave", "switched off in the settings", {"WEBSEAM_BRAVE_ENABLED": "off"}, {}, id="enabled"),
        pytest.param(
            "brave", "sends the query off this network (local-only is on)", {}, {"local_only": True}, id="local only"
        ),
        pytest.param(
            "exa",
            "sends the query off this network (local-only is on)",
            {"WEBSEAM_SEARCH_LOCAL_ONLY": "true", "EXA_API_KEY": ""},
            {},
            id="local only binds the free tier too",
        ),
    ],
)
def test_the_rules_of_the_user_bind_whoever_is_named(
    choice: str, reason: str, environment: dict[str, str], options: dict[str, Any]
) -> None:
    environment = {**ALL, **environment}
    assert refused(choice, environment, **options).detail == f"{choice} cannot be used: {reason}"
    automatic = planned("auto", environment, **options)
    assert choice not in asked(automatic)
    assert skipped(automatic)[choice] == reason


def test_local_only_leaves_what_stays_on_this_network() -> None:
    assert asked(planned("auto", ALL, local_only=True)) == ["searxng", "local"]
    assert asked(planned("auto", {**ALL, "WEBSEAM_SEARCH_LOCAL_ONLY": "1"})) == ["searxng", "local"]
    assert asked(planned("auto", {**ENDPOINT, "WEBSEAM_SEARCH_LOCAL_ONLY": "1"}, local_only=False)) == [
        "searxng",
        *FREE,
    ]


def test_when_nobody_is_left_the_plan_says_who_was_passed_over() -> None:
    found = planned("auto", {"WEBSEAM_SEARCH_ALLOW": "exa"})
    assert (asked(found), known(skipped(found))) == ([], ORDER)


@pytest.mark.parametrize(
    ("choice", "environment", "field", "problem", "hint"),
    [
        pytest.param("tavly", {}, "provider", "'tavly' is not known", "did you mean tavily?", id="name"),
        pytest.param("exa,brvae", ALL, "provider", "'brvae' is not known", "did you mean brave?", id="in a list"),
        pytest.param("fuse:exa,searx", ALL, "provider", "'searx' is not known", "did you mean searxng?", id="in fuse"),
        pytest.param("zzzzzz", {}, "provider", "'zzzzzz' is not known", None, id="nothing is near"),
        pytest.param("", {}, "provider", "names no provider", "auto, a name, a list such as a,b, or fuse", id="empty"),
        pytest.param(
            " , ", {}, "provider", "names no provider", "auto, a name, a list such as a,b, or fuse", id="comma"
        ),
        pytest.param(
            "auto", {"WEBSEAM_SEARCH_ORDER": "exxa"}, "provider", "'exxa' is not known", "did you mean exa?", id="order"
        ),
        pytest.param(
            "auto",
            {"WEBSEAM_SEARCH_DENY": "duckduck"},
            "search.deny",
            "'duckduck' is not known",
            "did you mean duckduckgo?",
            id="deny",
        ),
        pytest.param(
            "local",
            {"WEBSEAM_SEARCH_ALLOW": "local,bravo"},
            "search.allow",
            "'bravo' is not known",
            "did you mean brave?",
            id="allow",
        ),
    ],
)
def test_an_unknown_name_is_an_error_that_proposes_the_nearest(
    choice: str, environment: dict[str, str], field: str, problem: str, hint: str | None
) -> None:
    error = refused(choice, environment)
    assert isinstance(error, RequestError)
    assert (error.outcome, error.field, error.detail, error.hint) == (
        Outcome.INVALID, field, f"{field}: {problem}", hint,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("environment", "field"),
    [
        pytest.param({"EXA_API_KEY": "two words"}, "exa key", id="key"),
        pytest.param({"WEBSEAM_EXA_BASE_URL": "ftp://example.org"}, "WEBSEAM_EXA_BASE_URL", id="address"),
        pytest.param({"WEBSEAM_EXA_TIMEOUT": "soon"}, "exa.timeout", id="number"),
        pytest.param({"WEBSEAM_EXA_SEARCH_TYPE": "magic"}, "exa.search_type", id="choice"),
        pytest.param({"BRAVE_API_KEY_FILE": "/nonexistent/key"}, "BRAVE_API_KEY_FILE", id="key file"),
    ],
)
def test_a_malformed_setting_of_a_provider_is_named(environment: dict[str, str], field: str) -> None:
    name = "brave" if "BRAVE" in field else "exa"
    with pytest.raises(SettingsError) as raised:
        planned(name, environment)
    assert raised.value.field == field


def test_a_plan_is_the_same_to_a_cache_only_with_the_same_keys_addresses_and_settings() -> None:
    own = planned("exa", KEYED)
    assert own.identity == planned("exa", KEYED).identity
    for change in (
        {"EXA_API_KEY": "another-key"},
        {"WEBSEAM_EXA_BASE_URL": "http://127.0.0.1:1"},
        {"WEBSEAM_EXA_CONTENTS": "text"},
    ):
        assert planned("exa", {**KEYED, **change}).identity != own.identity
    assert "key-of-exa" not in repr(own) + repr(own.identity)


def test_fuse_asks_three_providers_with_all_their_places() -> None:
    both = {"OLLAMA_HOST": "127.0.0.1:11434", "OLLAMA_API_KEY": "key-of-ollama", **KEYED}
    found = planned("fuse", both)
    assert asked(found) == ["exa", "ollama", "ollama", "tavily"]


def test_a_mistake_in_the_settings_of_a_provider_nobody_named_does_not_end_a_local_search() -> None:
    assert asked(planned("auto", {"ANYSEARCH_MAX_RESULTS": "many"}, local_only=True)) == ["local"]
