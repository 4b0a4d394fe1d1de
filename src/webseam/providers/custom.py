"""Any JSON search API, described by settings: a company's own search is one table in a file.

Nothing is known here of the service, so nothing is assumed that the settings do not say: where it answers, how it is
asked, and where in its answer the results are. The limits are those of a service nobody checked: https, public
addresses and a list of harmless headers, each lifted by a setting of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from webseam.config import PROVIDER_COMMON, Settings, environment_name
from webseam.errors import EgressDenied, Outcome, ProviderError, SettingsError
from webseam.model import SearchRequest
from webseam.net.message import Request
from webseam.net.url import MAX_URL
from webseam.providers import section_of
from webseam.providers.base import EMULATED, NATIVE, Hits, Parsed, Provider, ProviderConfig, Reply, Setting
from webseam.providers.custom_parts.answer import add, rows_of
from webseam.providers.custom_parts.setup import USUAL_HEADERS, Setup, preset_of, setup_of
from webseam.providers.custom_parts.template import PAGE, Mistake, fill, has_dots, in_url
from webseam.secrets import fingerprint

_TRUE: Final = "true"  # the one word that lifts a guardrail
_TIMEOUT: Final = next(setting for setting in PROVIDER_COMMON if setting.name == "timeout")
_TIMEOUT_ENV: Final = ("WEB_CUSTOM_TIMEOUT_SEC",)
_MAY_BE_BLANK: Final = ("auth_header", "auth_scheme")  # "" is a value of these: none


def _guardrail(name: str, variable: str, help: str) -> Setting:
    return Setting(name=name, default="false", choices=(_TRUE, "false"), env=(variable,), guarded=True, help=help)


class Custom(Provider):
    id = "custom"
    label = "Custom search"
    receives = "the service that you set up"
    several = True
    key = "optional"
    key_env = ("WEB_KEY",)
    settings = (
        Setting(name="url", env=("WEB_SEARCH_API",), guarded=True, help="where it answers"),
        Setting(
            name="url_template",
            env=("WEB_URL_TEMPLATE",),
            guarded=True,
            help="the same with {query}, {count}, {page}; wins over url",
        ),
        Setting(name="preset", env=("WEB_PROVIDER",), guarded=True, help="a known service to start from"),
        Setting(name="query_param", env=("WEB_QUERY_PARAM",), guarded=True, help="parameter of the query, usually q"),
        Setting(
            name="params", env=("WEB_PARAMS",), secret=True, guarded=True, help="further parameters, a JSON object"
        ),
        Setting(
            name="method",
            default="GET",
            choices=("GET", "POST"),
            env=("WEB_METHOD",),
            guarded=True,
            help="POST sends the query in the body",
        ),
        Setting(
            name="body_template",
            env=("WEB_BODY_TEMPLATE",),
            guarded=True,
            help="body with {query}, {count}, {page}: JSON, or a form where headers say so",
        ),
        Setting(name="auth_header", env=("WEB_AUTH_HEADER",), guarded=True, help="header of the key; empty = none"),
        Setting(name="auth_scheme", env=("WEB_AUTH_SCHEME",), guarded=True, help="word before the key; empty = none"),
        Setting(
            name="headers",
            env=("WEB_HEADERS",),
            secret=True,
            guarded=True,
            help="further headers: Name: value; Name: value",
        ),
        Setting(name="json_path", env=("WEB_JSON_PATH",), guarded=True, help="where the results are, e.g. a.b[0].c"),
        Setting(name="cse_id", env=("GOOGLE_CSE_ID",), guarded=True, help="id of the engine, where a preset wants it"),
        _guardrail("allow_http", "WEB_CUSTOM_ALLOW_HTTP", "true = http URLs too"),
        _guardrail("allow_private", "WEB_CUSTOM_ALLOW_PRIVATE", "true = addresses that are not public too"),
        _guardrail("allow_arbitrary_headers", "WEB_CUSTOM_ALLOW_ARBITRARY_HEADERS", "true = headers of any name"),
        Setting(
            name="max_body_kb",
            kind="whole",
            default=300,
            low=1,
            high=5_000,
            env=("WEB_CUSTOM_MAX_BODY_KB",),
            guarded=True,
            help="largest body template in KB",
        ),
        Setting(
            name="private",
            kind="switch",
            default=False,
            guarded=True,
            help="it does not pass queries on, so local-only may use it",
        ),
    )  # fmt: skip
    options = {
        "include_domains": EMULATED,
        "exclude_domains": EMULATED,
        "freshness": EMULATED,
        "date_range": EMULATED,
        "page": NATIVE,  # where the template has {page}; `fitted` leaves it out where it has none
    }
    max_count = 50
    retried_status = tuple(range(500, 600))
    retries_broken = True

    def routes(self, config: ProviderConfig, settings: Settings) -> tuple[ProviderConfig, ...]:
        section = section_of(self.id)
        values = {**config.values, **self._emptied(section, settings)}
        try:
            source, address = _address(values, config)
            if not address:
                return (replace(config, base_url="", values=values),)
            setup = setup_of(source, address, tuple(values.items()))
        except Mistake as mistake:
            raise self._wrong(mistake, section, settings) from None
        timeout, origin = settings.read(section, replace(_TIMEOUT, env=_TIMEOUT_ENV if type(self) is Custom else ()))
        reach: Literal["own", "public"] = "own" if values["allow_private"] == _TRUE else "public"
        values.update(url_template=None, url=address)
        return (
            replace(
                config,
                base_url=setup.origin,
                key_identity=_identity(config, values),
                reach=reach,
                timeout=config.timeout if origin == "default" else timeout,
                values=values,
                secrets=(*config.secrets, *setup.secrets),
            ),
        )

    def fitted(self, config: ProviderConfig) -> Provider:
        """Return this provider as its template makes it: it has further pages where it has a place for their number."""
        if PAGE in _setup(config).uses:
            return self
        return self.copied(options={option: how for option, how in self.options.items() if option != "page"})

    def _emptied(self, section: str, settings: Settings) -> dict[str, str]:
        """Return the settings that the environment sets to nothing on purpose; elsewhere that means not set."""
        found = {}
        for setting in self.settings:
            if setting.name in _MAY_BE_BLANK and (section, setting.name) not in settings.flags:
                names = (environment_name(section, setting.name), *setting.env)
                raw = next((settings.environment[name] for name in names if name in settings.environment), None)
                if raw is not None and not raw.strip():
                    found[setting.name] = ""
        return found

    def _wrong(self, mistake: Mistake, section: str, settings: Settings) -> SettingsError:
        setting = next(one for one in self.schema() if one.name == mistake.key)
        _, origin = settings.read(section, setting)
        return SettingsError(f"{section}.{mistake.key}", f"from {origin} {mistake}", hint=mistake.hint)

    def is_private(self, values: Mapping[str, Any]) -> bool:
        return bool(values["private"])

    def unavailable(self, config: ProviderConfig) -> str | None:
        if not config.base_url:
            return f"no address ({self._variable('url')})"
        preset = _setup(config).preset
        if preset.needs_key and not config.key:
            return f"no key ({self.key_env[0]})" if self.key_env else "no key"
        if preset.engine_parameter and not config.values["cse_id"]:
            return f"no id of the engine ({self._variable('cse_id')})"
        return None

    def _variable(self, key: str) -> str:
        """Return the name under which a setting is to be set: its own variable, or the key in a file."""
        setting = next(one for one in self.settings if one.name == key)
        return setting.env[0] if setting.env else f"{section_of(self.id)}.{key}"

    def notice(self, config: ProviderConfig) -> str | None:
        """Say who receives queries: only the settings know."""
        return f"{self.id}: queries go to {urlsplit(config.base_url).hostname}"

    def request(self, search: SearchRequest, config: ProviderConfig) -> Request:
        setup = _setup(config)
        _check_guardrails(setup, config.values)
        filled = {"query": search.query, "count": str(search.count), "page": str(search.page)}
        url = fill(setup.url, filled, in_url)
        if has_dots(url.partition("?")[0].removeprefix(setup.origin)):
            raise ProviderError("this query cannot stand in the path of a URL", outcome=Outcome.UNSUPPORTED)
        if setup.preset.key_parameter and config.key:
            url += f"{'&' if '?' in url else '?'}{setup.preset.key_parameter}={in_url(config.key)}"
        if len(url) > MAX_URL:
            raise ProviderError(
                f"the URL would have {len(url)} characters with this query, at most {MAX_URL} can be sent",
                outcome=Outcome.UNSUPPORTED,
            )
        return Request(
            method=setup.method,
            url=url,
            headers=_headers(setup, config.key),
            body=fill(setup.body, filled, setup.encode).encode(),
            secrets=config.secrets,
        )

    def parse(self, reply: Reply, search: SearchRequest, config: ProviderConfig) -> Parsed:
        setup = _setup(config)
        hits = Hits(self.id)
        for row in rows_of(reply, reply.json(), setup.json_path, setup.preset.own):
            add(hits, row, setup.preset.fields)
        return hits.parsed()


def _address(values: Mapping[str, Any], config: ProviderConfig) -> tuple[str, str]:
    """Return the setting that says where the service answers, and the URL template; "" when none does."""
    for name in ("url_template", "url"):
        if values[name]:
            return name, values[name]
    preset = preset_of(values)
    if config.base_url:
        return "base_url", config.url(preset.path)
    return "preset", preset.origin and preset.origin + preset.path


def _identity(config: ProviderConfig, values: Mapping[str, Any]) -> str:
    """Return what stands for key and settings in what is remembered.

    A refusal is often mended by another header or address, under the same key or none: that is another service then.
    """
    return fingerprint("\0".join((config.key_identity, repr(sorted(values.items())))))


def _setup(config: ProviderConfig) -> Setup:
    """Return the call that a configuration out of `routes` describes; it was checked there."""
    return setup_of("url", config.values["url"], tuple(config.values.items()))


def _check_guardrails(setup: Setup, values: Mapping[str, Any]) -> None:
    """Refuse what the settings ask for and a guardrail forbids.

    Raises:
        EgressDenied: naming the rule.
    """
    if not setup.url.lower().startswith("https:") and values["allow_http"] != _TRUE:
        raise EgressDenied("custom.https", "the URL is not https", hint="set allow_http to true where that is safe")
    if values["allow_arbitrary_headers"] == _TRUE:
        return
    names = [name for name, _ in (*setup.headers, (setup.auth[0], "")) if name]
    odd = [name for name in names if name.lower() not in USUAL_HEADERS]
    if odd:
        hint = "set allow_arbitrary_headers to true where that is safe"
        raise EgressDenied("custom.headers", f"{odd[0]} is not one of the usual headers", hint=hint)


def _headers(setup: Setup, key: str) -> tuple[tuple[str, str], ...]:
    """Return all headers. The user's own come last and win."""
    name, scheme = setup.auth
    headers = {"accept": ("Accept", "application/json")}
    if setup.body:
        headers["content-type"] = ("Content-Type", setup.content_type)
    if name and key:
        headers[name.lower()] = (name, f"{scheme} {key}" if scheme else key)
    headers.update({own.lower(): (own, value) for own, value in setup.headers})
    return tuple(headers.values())
