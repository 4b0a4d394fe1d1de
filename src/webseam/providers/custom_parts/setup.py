"""What the settings of a custom provider come to: one call, described whole and checked before anything is sent.

A mistake found here names its setting; found later it would be a strange answer of somebody's server. What webseam
refuses for safety (plain http, odd headers) is kept apart: that is no mistake, and has an outcome of its own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_plus

from webseam.net.message import HeaderProblem, encode_headers
from webseam.providers.answers import decode_json
from webseam.providers.custom_parts.answer import read_path
from webseam.providers.custom_parts.template import (
    QUERY,
    Encode,
    Mistake,
    check_body,
    check_url,
    in_form,
    in_json,
    in_url,
    placeholders,
    split_url,
)

_PRESETS: Final = Path(__file__).with_name("presets.toml")
_KILOBYTE: Final = 1_024
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_CONTROL_IN_JSON = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")  # lines and tabs are white space
_HEADER = re.compile(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(.*?)\s*", re.DOTALL)
_PARAMETER = re.compile(r"\s*[!#$%&'*+.^_`|~0-9A-Za-z-]+=\S*\s*")  # of a header's value: `; charset=utf-8`
_FORM: Final = "application/x-www-form-urlencoded"
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json")
_KEY_LENGTH: Final = 16  # characters; what is as long, has a digit and no space is a key rather than a word
_BETWEEN_WORDS = re.compile(r"[\s\"'&=,;:{}\[\]]+")
# Headers anybody may set. A proxy's or a session's header in here could act for somebody else.
USUAL_HEADERS: Final = frozenset(
    "accept accept-encoding accept-language authorization cache-control content-type if-modified-since if-none-match"
    " ocp-apim-subscription-key user-agent x-api-key x-subscription-token x-tenant-id".split()
)
_PUBLIC_HEADERS: Final = frozenset(
    "accept accept-encoding accept-language cache-control content-type if-modified-since if-none-match"
    " user-agent".split()
)

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What is known of a service beforehand; see the file of presets."""

    origin: str = ""
    path: str = ""
    query_param: str = "q"
    parameters: Mapping[str, str] = field(default_factory=dict)
    key_parameter: str = ""
    engine_parameter: str = ""
    needs_key: bool = False
    auth_header: str = "Authorization"
    auth_scheme: str = "Bearer"
    json_path: str = ""
    own: tuple[str, ...] | list[str] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Setup:
    """One call. `url` and `body` are templates; everything else in them is encoded already.

    Attributes:
        encode: how a value is written in the body.
        uses: placeholders that stand anywhere. headers: the user's own, which win over all others.
        auth: name of the header with the key ("" = none) and the word before it ("" = none).
        secrets: what in the settings is or looks like a key.
    """

    origin: str
    url: str
    method: str
    body: str
    encode: Encode
    content_type: str
    uses: frozenset[str]
    headers: Pairs
    auth: tuple[str, str]
    json_path: str
    preset: Preset
    secrets: tuple[str, ...]


@cache
def presets() -> dict[str, Preset]:
    """Return all presets by name."""
    tables = tomllib.loads(_PRESETS.read_text("utf-8"))
    return {name: Preset(**table) for name, table in tables.items()}


def preset_of(values: Mapping[str, Any]) -> Preset:
    """Return the preset that the settings name, or one that knows nothing.

    Raises:
        Mistake: there is none of that name.
    """
    name = values["preset"]
    if not name:
        return Preset()
    if name not in presets():
        raise Mistake("preset", f"names {name!r:.60}, which is not one of {', '.join(presets())}")
    return presets()[name]


@lru_cache(maxsize=64)
def setup_of(source: str, address: str, items: tuple[tuple[str, Any], ...]) -> Setup:
    """Return the call that settings describe.

    Args:
        source: the setting that `address`, a URL template, is from.
        items: the values of the provider's settings.

    Raises:
        Mistake: naming the setting.
    """
    values = dict(items)
    preset = preset_of(values)
    for key, value in items:
        json_body = key == "body_template"
        if isinstance(value, str) and (_CONTROL_IN_JSON if json_body else _CONTROL).search(value):
            raise Mistake(key, "has a line break or another control character")
    headers = _headers(values["headers"] or "")
    content_type, body, encode = _body(values, preset, headers)
    origin, url = _url(source, address, values, preset, placeholders(body))
    path = values["json_path"] or preset.json_path
    read_path(path)
    return Setup(
        origin=origin,
        url=url,
        method=values["method"],
        body=body,
        encode=encode,
        content_type=content_type,
        uses=frozenset(placeholders(url) + placeholders(body)),
        headers=headers,
        auth=_auth(values, preset),
        json_path=path,
        preset=preset,
        secrets=_secrets(url, body, headers),
    )


# The URL.


def _url(source: str, address: str, values: Mapping[str, Any], preset: Preset, in_body: list[str]) -> tuple[str, str]:
    """Return origin and template of the URL, with everything in its query that is always sent."""
    origin, path, query = split_url(source, address)
    check_url(source, address)
    own = _parameters(values["params"])
    fixed = dict(preset.parameters)
    if preset.engine_parameter and values["cse_id"]:
        fixed[preset.engine_parameter] = values["cse_id"]
    taken = {**fixed, **({preset.key_parameter: None} if preset.key_parameter else {})}
    added = {name: in_url(value) for name, value in {**own, **fixed}.items()}
    if QUERY not in [*placeholders(address), *in_body]:
        name = _query_name(values, preset)
        taken[name] = None
        added[name] = "{query}"
    for name, value in own.items():
        if taken.get(name, value) != value:
            raise Mistake("params", f"sets {name!r:.60}, which is sent with another value anyway")
    pairs = _without(source, query, added) + [f"{in_url(name)}={value}" for name, value in added.items()]
    return origin, origin + (path or preset.path or "/") + ("?" + "&".join(pairs) if pairs else "")


def _without(source: str, query: str, added: Mapping[str, str]) -> list[str]:
    """Return the pairs of the URL's own query, but for those that are set anew."""
    kept = []
    for pair in filter(None, query.split("&")):
        name = unquote_plus(pair.partition("=")[0])
        if name not in added:
            kept.append(pair)
        elif placeholders(pair):
            raise Mistake(source, f"fills in {name!r:.60}, which is sent with another value anyway")
    return kept


def _query_name(values: Mapping[str, Any], preset: Preset) -> str:
    name = str(values["query_param"] or preset.query_param)
    if placeholders(name):
        raise Mistake("query_param", "has a placeholder", hint="it is the name of a parameter, such as q")
    return name


def _parameters(text: str | None) -> dict[str, str]:
    """Return the parameters that are always sent, from a JSON object of strings and numbers."""
    if not text:
        return {}
    try:
        found = decode_json(text.encode())
    except ValueError as error:
        raise Mistake("params", f"is not JSON: {error}", hint="""write it like '{"lang": "en"}'""") from None
    if not isinstance(found, dict):
        raise Mistake("params", "is not a JSON object", hint="""write it like '{"lang": "en"}'""")
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise Mistake("params", f"has a value of {name!r:.60} that is neither text nor a number")
    return {name: str(value) for name, value in found.items()}


# The body.


def _body(values: Mapping[str, Any], preset: Preset, headers: Pairs) -> tuple[str, str, Encode]:
    """Return content type, template and encoding of the body; "" where there is none."""
    template = values["body_template"] or ""
    if values["method"] == "GET":
        if template:
            raise Mistake("body_template", "is sent with POST alone", hint="set method to POST")
        return "", "", in_url
    if len(template.encode("utf-8", "replace")) > values["max_body_kb"] * _KILOBYTE:
        raise Mistake("body_template", f"is larger than {values['max_body_kb']} KB", hint="see max_body_kb")
    stated = next((value for name, value in headers if name.lower() == "content-type"), "application/json")
    kind = stated.partition(";")[0].strip().lower()
    name = _query_name(values, preset)
    if kind == _FORM:
        if _CONTROL.search(template):
            raise Mistake("body_template", "has a line break or another control character")
        encode, template = in_form, template or f"{in_form(name)}={{query}}"
    elif _JSON.fullmatch(kind):
        encode, template = in_json, template or f'{{"{in_json(name)}":"{{query}}"}}'
    else:
        raise Mistake("headers", f"has the content type {kind!r:.60}", hint=f"a body is JSON or {_FORM}")
    check_body("body_template", template, encode)
    return stated, template, encode


# Headers.


def _headers(text: str) -> Pairs:
    """Return the headers of `Name: value; Name: value`. A value may have parameters, as in `text/html; q=0.9`."""
    found: list[tuple[str, str]] = []
    for part in filter(str.strip, text.split(";")):
        header = _HEADER.fullmatch(part)
        if header and header[1].lower() in (name.lower() for name, _ in found):
            raise Mistake("headers", f"sets {header[1]:.60} twice")
        if header:
            found.append((header[1], header[2]))
        elif found and _PARAMETER.fullmatch(part):
            name, value = found.pop()
            found.append((name, f"{value}; {part.strip()}"))
        else:
            raise Mistake("headers", "has a part that is no header", hint="write it like 'Name: value; Name: value'")
    _check_headers("headers", found)
    return tuple(found)


def _check_headers(key: str, headers: Iterable[tuple[str, str]]) -> None:
    try:
        encode_headers(headers, ())
    except HeaderProblem as problem:
        raise Mistake(key, f"cannot be sent: {problem}") from None


def _auth(values: Mapping[str, Any], preset: Preset) -> tuple[str, str]:
    """Return the header of the key and the word before it; a setting that is empty takes the preset's away."""
    name = preset.auth_header if values["auth_header"] is None else values["auth_header"]
    scheme = preset.auth_scheme if values["auth_scheme"] is None else values["auth_scheme"]
    if name:
        _check_headers("auth_header", [(name, "")])
    _check_headers("auth_scheme", [("Authorization", scheme)])
    return name, scheme


# Secrets.


def _secrets(url: str, body: str, headers: Pairs) -> tuple[str, ...]:
    found = [value for _, value in parse_qsl(url.partition("?")[2])]
    found += _BETWEEN_WORDS.split(body)
    keys = [word for word in found if len(word) >= _KEY_LENGTH and " " not in word and re.search(r"\d", word)]
    for name, value in headers:
        if name.lower() not in _PUBLIC_HEADERS and value:
            keys += [value, value.split()[-1]]
    return tuple(dict.fromkeys(keys))
