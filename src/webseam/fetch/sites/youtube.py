"""YouTube: what a video is, and what is said in it where captions are open to everybody.

Title and channel come from oEmbed, which is documented (https://oembed.com/). Description, length and captions are not
for sale without a key: they are read from the page that a browser gets, whose form nobody promises, so this part can be
turned off and failing it costs a note, not the page. Nobody is imitated: where YouTube gives captions to its own player
only, the answer to that is to say so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.value import Value, decode
from webseam.fetch.sites.writing import Document, joined
from webseam.fetch.types import Reading
from webseam.schema import Setting

MAX_PAGE: Final = 6 * 1024 * 1024  # bytes of a watch page; most are 1 MiB
PARAGRAPH: Final = 60_000  # milliseconds of speech under one time mark
_ID = re.compile(r"[A-Za-z0-9_-]{11}")
_PLAYER = re.compile(r"\bytInitialPlayerResponse\s{0,5}=\s{0,5}(?=\{)")


class YouTube(Site):
    """`/watch?v=ID`, `/shorts/ID`, `/live/ID`, `/embed/ID`, `youtu.be/ID`."""

    id = "youtube"
    label = "YouTube"
    hosts = ("youtube.com", "www.youtube.com", "m.youtube.com", "music.youtube.com", "youtu.be")
    base_url = "https://www.youtube.com"
    settings = (
        Setting(
            name="captions",
            kind="switch",
            default=True,
            help="read description and captions from the watch page, which is no API",
        ),
        Setting(name="language", help="language of captions, BCP 47; otherwise the one that is spoken"),
    )

    def plan(self, place: Place) -> Plan | None:
        match place.segments:
            case ("watch",):
                key = place.query.get("v", "")
            case ("shorts" | "live" | "embed", key):
                pass
            case (key,) if place.host == "youtu.be":
                pass
            case _:
                return None
        return partial(_video, key=key) if _ID.fullmatch(key) else None


def _video(api: Api, key: str) -> Asked[Reading]:
    address = f"https://www.youtube.com/watch?v={key}"
    found = yield from api.object("oembed", query={"url": address, "format": "json"})
    if not found["title"].line:
        raise SiteFailed("YouTube gave no title")
    player = Value()
    if api.config.values.get("captions", True) is not False:
        player = (yield from api.optional(_player(api, key), "description and captions")) or Value()
    else:
        api.notes.append("title and channel only: reading of captions is turned off")
    details, format_ = player["videoDetails"], player["microformat"]["playerMicroformatRenderer"]
    published = format_["publishDate"].date
    document = api.document(found["title"].line)
    document.facts(
        ("Channel", found["author_name"].line),
        ("Channel's page", found["author_url"].line),
        ("Published", published and published[:10]),
        ("Length", _clock((details["lengthSeconds"].number or 0) * 1_000) if details["lengthSeconds"].number else ""),
        ("Views", details["viewCount"].number),
        ("Category", format_["category"].line),
        ("Video", address),
    )
    description = details["shortDescription"].text or format_["description"]["simpleText"].text
    if description.strip():
        document.heading(2, "Description")
        document.plain(description)
    track = None
    if player:
        track = yield from _captions(api, document, player)
    language = track["languageCode"].line if track is not None else ""
    return document.reading(author=found["author_name"].line, published=published, language=language or None)


def _player(api: Api, key: str) -> Asked[Value]:
    """Return what the watch page tells its player."""
    page = yield from api.text("watch", query={"v": key, "hl": "en"}, accept="text/html", max_bytes=MAX_PAGE)
    start = _PLAYER.search(page)
    if start is None:
        raise SiteFailed("the watch page does not say")
    try:
        raw, _ = json.JSONDecoder().raw_decode(page, start.end())
    except (ValueError, RecursionError):
        raise SiteFailed("the watch page does not say in a known form") from None
    return Value(raw)


def _captions(api: Api, document: Document, player: Value) -> Asked[Value | None]:
    """Add the captions; return the track they are from."""
    tracks = list(player["captions"]["playerCaptionsTracklistRenderer"]["captionTracks"])
    if not tracks:
        reason = player["playabilityStatus"]["reason"].line
        api.notes.append(f"no captions: {reason}" if reason else "no captions: the video has none")
        return None
    track = _chosen(tracks, str(api.config.values.get("language") or ""))
    parts = urlsplit(track["baseUrl"].line)
    # Only the question is taken from the page: the host and the path stay ours, whatever it says.
    query = {**dict(parse_qsl(parts.query)), "fmt": "json3"}
    said = yield from api.optional(_speech(api, query), "captions")
    if said:
        kind = "made by a machine" if track["kind"].line == "asr" else ""
        document.heading(2, f"Captions ({joined([_name(track) or track['languageCode'].line, kind])})")
        for start, words in said:
            document.anchor(f"t={start // 1_000}")
            document.plain(f"[{_clock(start)}] {words}")
        others = sorted({one["languageCode"].line for one in tracks} - {track["languageCode"].line, ""})
        if others:
            api.notes.append(f"captions in other languages: {joined(others, most=20)}")
    return track


def _speech(api: Api, query: dict[str, str]) -> Asked[list[tuple[int, str]]]:
    response = yield from api.get("api", "timedtext", query=query)
    if not response.body.strip():
        raise SiteFailed("YouTube gives those of this video to its own player only")
    try:
        found = decode(response.body)
    except ValueError:
        raise SiteFailed("YouTube answered with captions in another form") from None
    said = list(_paragraphs(found["events"]))
    if not said:
        raise SiteFailed("nothing is said in them")
    return said


def _paragraphs(events: Value) -> Iterator[tuple[int, str]]:
    """Yield when and what, a minute at a time; what is said in an instant without words is left out."""
    begun, words = 0, ""
    for event in events:
        start = event["tStartMs"].number or 0
        text = "".join(part["utf8"].text for part in event["segs"])
        if not text.strip():
            continue
        if words and start - begun >= PARAGRAPH:
            yield begun, words
            words = ""
        if not words:
            begun = start
        words = " ".join([*words.split(), *text.split()])
    if words:
        yield begun, words


def _chosen(tracks: list[Value], wanted: str) -> Value:
    """Return the wanted language, else what people wrote in the spoken one, else in English, else the first."""
    spoken = next((one["languageCode"].line for one in tracks if one["kind"].line == "asr"), "")

    def order(track: Value) -> tuple[bool, bool, bool, bool]:
        language = track["languageCode"].line.lower()
        return (
            not (wanted and _same(language, wanted)),
            not (spoken and _same(language, spoken)),
            not _same(language, "en"),
            track["kind"].line == "asr",
        )

    return min(tracks, key=order)


def _same(one: str, other: str) -> bool:
    return one.lower().partition("-")[0] == other.lower().partition("-")[0]


def _name(track: Value) -> str:
    return track["name"]["simpleText"].line or "".join(run["text"].line for run in track["name"]["runs"])


def _clock(milliseconds: int) -> str:
    """Return `1:02:03`, `2:03`."""
    minutes, seconds = divmod(milliseconds // 1_000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
