"""What a site handler is: facts declared once, and a conversation with the site's public API.

A handler never sends anything: it yields what is to be sent and is given the answer, so that deadline, egress, pace
and cache are the same for all of them and live elsewhere. It only knows how to ask for less than the page and get
more: the Markdown people wrote instead of the HTML around it. Whatever goes wrong, the page itself is still there:
`SiteFailed` says why it should be read instead.
Must not import the client of `webseam.net`, only its values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, ClassVar, Final, TypeVar
from urllib.parse import quote, urlencode, urljoin, urlsplit

from webseam.errors import FetchError, Outcome, TransportError
from webseam.fetch.sites.place import Place
from webseam.fetch.sites.value import Value, decode
from webseam.fetch.sites.writing import Document, ToMarkdown
from webseam.fetch.types import Reading
from webseam.net.message import Request, Response
from webseam.schema import Setting
from webseam.text import quote as quote_words

MAX_REQUESTS: Final = 6  # for one page, redirects included
MAX_ANSWER: Final = 8 * 1024 * 1024  # bytes of one answer; a thread of hundreds of comments is under 2 MiB
QUOTED_FROM: Final = 2_000  # characters of an answer that an error may quote from
_FOLLOWED: Final = frozenset({301, 302, 303, 307, 308})
_JSON: Final = "application/json"
_PLAIN: Final = "@!:;,=~"  # characters that may stand in a path as they are, and that some APIs only take so

Made = TypeVar("Made")
Asked = Generator[Request, Response, Made]  # yields what is to be sent, is given the answer, returns what was read
Conversation = Generator[Request, Response, Reading | None]


class SiteFailed(FetchError):
    """The site's API did not give the page; read the page itself.

    Attributes:
        http_status: what the API answered, if it did.
        instead: the address of the same thing in a form that readers know, to be read rather than the page.
    """

    def __init__(
        self,
        detail: str,
        *,
        outcome: Outcome = Outcome.BAD_RESPONSE,
        http_status: int | None = None,
        instead: str | None = None,
    ) -> None:
        super().__init__(detail, outcome=outcome, http_status=http_status)
        self.instead = instead


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteConfig:
    """What a site was set up with, for one page.

    Attributes:
        base_url: where its API answers; "" = on the page's own origin.
        token: sent in a header, to `base_url` only.
        hosts: further hosts that are this site, e.g. those of an enterprise instance at `base_url`.
        values: the site's own settings by name.
        html_to_markdown: given HTML and the address it came from, returns Markdown.
    """

    html_to_markdown: ToMarkdown
    base_url: str = ""
    token: str = field(default="", repr=False)
    hosts: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


class Api:
    """A site's API while one page is read: it builds requests, counts them and judges the answers."""

    def __init__(self, site: Site, config: SiteConfig, place: Place) -> None:
        self.config = config
        self.place = place
        self.notes: list[str] = []
        self.root = site.root(config, place)
        self.site = site
        self._left = MAX_REQUESTS

    def document(self, title: str, *, base: str = "") -> Document:
        """Start a page; `base` is what relative addresses in it start from, by default the page's own."""
        return Document(title, self.config.html_to_markdown, base=base or self.place.url)

    def get(
        self,
        *segments: str | int,
        query: Mapping[str, object] | None = None,
        accept: str = _JSON,
        root: str | None = None,
        max_bytes: int = MAX_ANSWER,
        elsewhere: bool = False,
        form: Mapping[str, object] | None = None,
        payload: object = None,
    ) -> Asked[Response]:
        """Ask for `segments` below `root` (by default the API) and return a 2xx answer. Of `query`, None is left out.

        Args:
            elsewhere: a redirect to another origin is followed too, without the token.
            form, payload: what is sent as a form or as JSON, by POST; no redirect is followed then.

        Raises:
            SiteFailed: any other answer, or too many requests.
        """
        base = (self.root if root is None else root).rstrip("/")
        url = "/".join([base, *(quote(str(segment), safe=_PLAIN) for segment in segments)])
        wanted = {name: value for name, value in (query or {}).items() if value is not None}
        if wanted:
            url += "?" + urlencode(wanted, doseq=True)
        while True:
            if self._left <= 0:
                raise SiteFailed(f"more than {MAX_REQUESTS} requests for one page", outcome=Outcome.UNSUPPORTED)
            self._left -= 1
            response: Response = yield self._request(url, accept, max_bytes, *_body(form, payload))
            if 200 <= response.status < 300:
                return response
            target = _join(url, response.headers.get("location") or "")
            if response.status not in _FOLLOWED or target == url or form is not None or payload is not None:
                raise self._failure(response)
            if not elsewhere and _origin(target) != _origin(url):
                raise SiteFailed(
                    f"{self.site.label} redirects to another origin: {quote_words(_origin(target))}",
                    http_status=response.status,
                )
            url = target

    def json(self, *segments: str | int, **options: Any) -> Asked[Value]:
        """Ask and return JSON.

        Raises:
            SiteFailed: as `get`, or the answer is not JSON.
        """
        response = yield from self.get(*segments, **options)
        try:
            return decode(response.body)
        except ValueError:
            raise SiteFailed(
                f"{self.site.label} answered with something that is not JSON"
                f" ({response.headers.get('content-type') or 'no type'}, {len(response.body):,} bytes)",
                http_status=response.status,
            ) from None

    def object(self, *segments: str | int, holds: str = "", **options: Any) -> Asked[Value]:
        """Ask and return a JSON object, in which `holds` must not be empty. Raises SiteFailed."""
        value = yield from self.json(*segments, **options)
        if not value.is_object or (holds and not value[holds]):
            raise SiteFailed(f"{self.site.label} answered with JSON of another shape")
        return value

    def array(self, *segments: str | int, **options: Any) -> Asked[Value]:
        """Ask and return a JSON array. Raises SiteFailed."""
        value = yield from self.json(*segments, **options)
        if not value.is_array:
            raise SiteFailed(f"{self.site.label} answered with JSON of another shape")
        return value

    def text(self, *segments: str | int, accept: str = "text/plain, */*", **options: Any) -> Asked[str]:
        """Ask and return text, LF line ends.

        Raises:
            SiteFailed: as `get`, or the answer is no text, or a web page that was not asked for.
        """
        response = yield from self.get(*segments, accept=accept, **options)
        kind = (response.headers.get("content-type") or "").lower()
        if kind.startswith("text/html") and "html" not in accept:
            raise SiteFailed(f"{self.site.label} answered with a web page", http_status=response.status)
        if b"\0" in response.body[:8_192]:
            raise SiteFailed(f"not text ({len(response.body):,} bytes)", outcome=Outcome.UNSUPPORTED)
        text = response.body.decode("utf-8-sig", "replace")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def optional(self, asked: Asked[Made], what: str) -> Asked[Made | None]:
        """Return what `asked` gives, or None with a note when it fails: the page is worth having without it."""
        try:
            return (yield from asked)
        except (SiteFailed, TransportError) as error:
            self.notes.append(f"without {what}: {error.detail}")
            return None

    def _request(self, url: str, accept: str, max_bytes: int, kind: str, body: bytes) -> Request:
        token = self.config.token if _is_below(url, self.site.trusted(self.config)) else ""
        return Request(
            method="POST" if kind else "GET",
            url=url,
            headers=(
                ("Accept", accept),
                *((("Content-Type", kind),) if kind else ()),
                *self.site.headers(),
                *(self.site.credentials(token) if token else ()),
            ),
            body=body,
            secrets=(token,) if token else (),
            max_bytes=max_bytes,
        )

    def _failure(self, response: Response) -> SiteFailed:
        status = response.status
        words = _message(response)
        if self.config.token:
            words = words.replace(self.config.token, "[token]")
        limited = response.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in response.headers
        outcome = Outcome.BAD_RESPONSE
        if status == 429 or (status in (400, 403, 502, 503) and (limited or _LIMITED.search(words))):
            outcome = Outcome.RATE_LIMITED
        elif status in (404, 410):
            outcome = Outcome.NOT_FOUND
        elif status in (401, 403):
            outcome = Outcome.AUTH
        elif status >= 500:
            outcome = Outcome.UPSTREAM
        detail = f"{self.site.label} answered {status}" + (f": {quote_words(words)}" if words else "")
        return SiteFailed(detail, outcome=outcome, http_status=status)


def _body(form: Mapping[str, object] | None, payload: object) -> tuple[str, bytes]:
    """Return the media type and the bytes of what is sent; ("", b"") when nothing is."""
    if payload is not None:
        return _JSON, json.dumps(payload).encode()
    if form is not None:
        wanted = {name: value for name, value in form.items() if value is not None}
        return "application/x-www-form-urlencoded", urlencode(wanted).encode()
    return "", b""


_LIMITED = re.compile(r"rate.?limit|too many|throttl|quota", re.IGNORECASE)


def _message(response: Response) -> str:
    """Return what an answer that failed says about itself; nothing of a web page."""
    try:
        value = decode(response.body[:65_536])
    except ValueError:
        return ""
    for name in ("message", "error_message", "detail", "error", "errors", "title"):
        found = value[name]
        words = found.line or found["message"].line or found[0]["detail"].line or found[0].line
        if words:
            return words[:QUOTED_FROM]
    return ""


def _join(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        return url


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}".lower()


def _is_below(url: str, base: str) -> bool:
    base = base.rstrip("/")
    return bool(base) and (url == base or url.startswith((base + "/", base + "?")))


Plan = Callable[[Api], Asked[Reading | None]]


class Site:
    """Base of all site handlers: class attributes, `plan` and the steps it leads to.

    Class attributes:
        id, label: the name used everywhere, and the one people know.
        hosts: patterns of the hosts its pages are on, `*` for any letters.
        base_url: where its API answers unless set otherwise; "" = on each page's own origin.
        home: hosts whose API is at `base_url`, where that of others is on their own origin; () = all are.
        token_env: environment names of a token its own users know; () = it takes none.
        settings: its own keys, beside `base_url`, `token`, `hosts`, `enabled`.
    """

    id: ClassVar[str]
    label: ClassVar[str]
    hosts: ClassVar[tuple[str, ...]] = ()
    base_url: ClassVar[str] = ""
    home: ClassVar[tuple[str, ...]] = ()
    token_env: ClassVar[tuple[str, ...]] = ()
    settings: ClassVar[tuple[Setting, ...]] = ()

    def schema(self) -> tuple[Setting, ...]:
        """All keys of this site's section."""
        token = Setting(name="token", env=self.token_env, secret=True, guarded=True, help="sent to base_url only")
        return (
            Setting(name="base_url", default=self.base_url, guarded=True, help="where the API answers"),
            *((token,) if self.token_env else ()),
            Setting(name="hosts", kind="list", guarded=True, help="further hosts whose API is at base_url"),
            Setting(name="enabled", kind="switch", default=True, help="off = its pages are read as any other"),
            *self.settings,
        )

    def configured(self, read: Callable[[Setting], Any], html_to_markdown: ToMarkdown) -> SiteConfig:
        """Return the configuration that `read` gives, a setting's value by its description."""
        values = {setting.name: read(setting) for setting in self.schema()}
        return SiteConfig(
            html_to_markdown=html_to_markdown,
            base_url=values["base_url"] or "",
            token=values.get("token") or "",
            hosts=tuple(values["hosts"] or ()),
            values={setting.name: values[setting.name] for setting in self.settings},
        )

    def match(self, url: str, hosts: Sequence[str] = ()) -> bool:
        """True when this site's API can be asked about a page; `hosts` are further hosts that are this site."""
        place = Place.of(url)
        return place is not None and self.knows(place, hosts)

    def knows(self, place: Place, hosts: Sequence[str] = ()) -> bool:
        """As `match`, for an address that was taken apart."""
        if not any(fnmatchcase(place.host, pattern) for pattern in (*self.hosts, *hosts)):
            return False
        return self.plan(place) is not None

    def read(self, url: str, config: SiteConfig) -> Conversation:
        """Read one page step by step: yield what is to be sent, get the answer, return what was read.

        None means that this is no page of the site after all. A `TransportError` may be thrown in where a request
        failed: what the page can do without is then left out.

        Raises:
            SiteFailed: the API does not give the page.
        """
        place = Place.of(url)
        steps = self.plan(place) if place is not None else None
        if place is None or steps is None:
            return None
        api = Api(self, config, place)
        reading = yield from steps(api)
        if reading is None:
            return None
        if not reading.markdown.strip():
            raise SiteFailed(f"{self.label} gave nothing to read", outcome=Outcome.EMPTY)
        reading.reader = self.id
        reading.notes = [*api.notes, *reading.notes]
        if config.token and config.token in reading.markdown:
            reading.markdown = reading.markdown.replace(config.token, "[token]")
        return reading

    def root(self, config: SiteConfig, place: Place) -> str:
        """Return where the API answers for a page."""
        if not config.base_url:
            return place.origin
        at_home = not self.home or place.host in (*self.home, *config.hosts)
        return config.base_url if at_home or _origin(config.base_url) == place.origin else place.origin

    def plan(self, place: Place) -> Plan | None:
        """Return the steps that read a page, or None when it is not one this API knows. Sends nothing.

        Steps that give None in the end leave the page to the readers without a word: nothing went wrong.
        """
        raise NotImplementedError

    def headers(self) -> tuple[tuple[str, str], ...]:
        """Return what every request of this API carries besides `Accept`."""
        return ()

    def trusted(self, config: SiteConfig) -> str:
        """Return the address below which requests carry the token."""
        return config.base_url

    def credentials(self, token: str) -> tuple[tuple[str, str], ...]:
        """Return the header that carries a token; () where it is sent in another way."""
        return (("Authorization", f"Bearer {token}"),)


__all__ = ["Api", "Asked", "Conversation", "Place", "Plan", "Site", "SiteConfig", "SiteFailed"]
