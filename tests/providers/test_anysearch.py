"""AnySearch's API: which field each option becomes, and what it is told without a key."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wire import QUERY
from tests.wire.fake import KEY, sent
from tests.wire.write import results

NOTHING = results("anysearch", [])


@pytest.mark.parametrize(
    "options, settings, fields",
    [
        pytest.param({}, {}, {}, id="plain"),
        pytest.param({"count": 50}, {}, {}, id="count"),
        pytest.param({"count": 7}, {"max_results": 5}, {"max_results": 5}, id="count-that-is-set"),
        pytest.param({"count": 3}, {"max_results": 5}, {"max_results": 3}, id="count-below-it"),
        pytest.param({"language": "zh-CN", "region": "cn"}, {}, {"language": "zh-CN", "zone": "cn"}, id="china"),
        pytest.param({"region": "de"}, {}, {"zone": "intl"}, id="elsewhere"),
        pytest.param({"kind": "code"}, {}, {"tag": "code.doc"}, id="code"),
        pytest.param({"kind": "paper"}, {}, {"tag": "academic.search"}, id="paper"),
    ],
)
async def test_each_option_becomes_this_field(
    options: dict[str, Any], settings: dict[str, Any], fields: dict[str, Any]
) -> None:
    request = await sent("anysearch", options, NOTHING, settings=settings)
    assert (request.method, request.path, request.headers["authorization"]) == ("POST", "/v1/search", f"Bearer {KEY}")
    assert request.json() == {"query": QUERY, "max_results": 10, "format": "json", **fields}


async def test_its_own_variable_bounds_the_results_and_no_key_is_no_header() -> None:
    request = await sent("anysearch", {}, NOTHING, settings={"api_key": None}, variables={"ANYSEARCH_MAX_RESULTS": "4"})
    assert (request.json()["max_results"], request.headers.get("authorization")) == (4, None)
