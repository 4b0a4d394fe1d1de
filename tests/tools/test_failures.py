"""What a model is told of a failure: to the letter, and never to do what only a person can."""

from __future__ import annotations

from typing import Any

import pytest

from webseam.errors import AllProvidersFailed, Outcome, ProviderError, RequestError, WebSeamError
from webseam.model import Attempt, Page
from webseam.tools.failures import for_model, words_of, words_of_page

URL = "https://example.org/page"


def attempt(name: str, outcome: Outcome) -> Attempt:
    return Attempt(provider=name, outcome=outcome)


@pytest.mark.parametrize(
    ("error", "given", "said"),
    [
        pytest.param(
            RequestError("query", "is empty", hint="say what to search for"),
            {"query": ""},
            "invalid: query: is empty. Next: say what to search for.",
            id="input",
        ),
        pytest.param(
            ProviderError("HTTP 401.", outcome=Outcome.AUTH, hint="get a key at a.example, then: webseam key set a"),
            {"query": "q", "provider": "a"},
            "auth: HTTP 401. Next: omit provider so that another can answer; to tell the user: get a key at a.example,"
            " then: webseam key set a.",
            id="a pinned provider without a key",
        ),
        pytest.param(
            AllProvidersFailed(
                "nobody answered",
                outcome=Outcome.NETWORK,
                attempts=[
                    attempt("a", Outcome.NETWORK),
                    attempt("b", Outcome.UNAVAILABLE),
                    attempt("c", Outcome.RATE_LIMITED),
                ],
            ),
            {"query": "q"},
            "network: nobody answered. Tried: a: network; c: rate_limited. Next: try once more, or use docs_search.",
            id="nobody answered",
        ),
        pytest.param(
            AllProvidersFailed("all are used up", outcome=Outcome.QUOTA),
            {"query": "q"},
            "quota: all are used up. Next: answer with what you have.",
            id="nothing is left",
        ),
        pytest.param(
            WebSeamError("it broke", outcome=Outcome.BAD_RESPONSE),
            {"url": URL},
            "bad_response: it broke. Next: look for the same in another source.",
            id="without a hint",
        ),
        pytest.param(WebSeamError("gone", outcome=Outcome.CANCELLED), {}, "cancelled: gone.", id="nothing to propose"),
    ],
)
def test_a_failed_call_is_told_with_the_step_that_fits(error: WebSeamError, given: dict[str, Any], said: str) -> None:
    assert words_of(error, given) == said


@pytest.mark.parametrize(
    ("outcome", "hint", "said"),
    [
        pytest.param(
            Outcome.NOT_FOUND,
            "--archived looks for a copy in the web archive",
            "search for where it moved with web_search",
            id="an option of the command line",
        ),
        pytest.param(
            Outcome.BLOCKED,
            "it asks for proof of being human; another reader or another source may have the text",
            "look for the same in another source; this one refuses programs",
            id="a reader the tool does not offer",
        ),
        pytest.param(
            Outcome.TIMEOUT,
            "check net.proxy",
            "try once more with a longer timeout, or look for the same in another source; to tell the user: check"
            " net.proxy",
            id="a setting",
        ),
        pytest.param(Outcome.RATE_LIMITED, "ask later", "ask later", id="what a model can do"),
        pytest.param(Outcome.INVALID, "write 3, 2-5 or 1,4-6", "write 3, 2-5 or 1,4-6", id="input"),
        pytest.param(Outcome.INVALID, None, None, id="nothing to propose"),
        pytest.param(
            Outcome.JS_REQUIRED,
            None,
            "look for the same in another source; this page is empty without a browser",
            id="no hint",
        ),
    ],
)
def test_a_failed_page_is_told_with_the_step_that_fits(outcome: Outcome, hint: str | None, said: str | None) -> None:
    page = Page(url=URL, outcome=outcome, detail="why.", hint=hint)
    assert words_of_page(page) == f"{outcome}: {URL}: why." + (f" Next: {said}." if said else "")
    assert for_model(page).hint == said


def test_documentation_of_this_machine_is_had_another_way() -> None:
    page = Page(url="python://python/json#dumps", outcome=Outcome.INVALID, detail="no web address")
    assert words_of_page(page) == (
        "invalid: python://python/json#dumps: no web address. Next: this is documentation installed here: call"
        " docs_search with its name."
    )


def test_a_page_that_was_read_stays_as_it_is() -> None:
    page = Page(url=URL, markdown="text", hint="check net.proxy")
    assert for_model(page) is page
