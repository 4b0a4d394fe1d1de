"""Hugging Face: the card of a model, data set or space with its facts and files; papers; text files.

Source: https://huggingface.co/docs/hub/api.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from webseam.errors import Outcome
from webseam.fetch.sites import files
from webseam.fetch.sites.base import Api, Asked, Place, Plan, Site, SiteFailed
from webseam.fetch.sites.value import Value
from webseam.fetch.sites.writing import joined
from webseam.fetch.types import Reading

MAX_FILES: Final = 100
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_KINDS: Final = ("datasets", "spaces")
_RESERVED: Final = frozenset(
    "api blog chat collections datasets docs enterprise inference join learn login models new organizations papers "
    "posts pricing search settings spaces tasks".split()
)


class HuggingFace(Site):
    """`/OWNER/NAME` and below, the same under `/datasets` and `/spaces`, and `/papers/ID`."""

    id = "hugging-face"
    label = "Hugging Face"
    hosts = ("huggingface.co", "www.huggingface.co", "hf.co")
    base_url = "https://huggingface.co"
    token_env = ("HF_TOKEN",)

    def plan(self, place: Place) -> Plan | None:
        segments = place.segments
        if len(segments) == 2 and segments[0] == "papers" and re.fullmatch(r"\d{4}\.\d{4,5}", segments[1]):
            return partial(_paper, number=segments[1])
        kind = segments[0] if segments[:1] and segments[0] in _KINDS else "models"
        owner, name, *rest = [*segments[kind != "models" :], "", ""][: max(len(segments), 2)]
        if owner in _RESERVED or not _NAME.fullmatch(owner) or not _NAME.fullmatch(name):
            return None
        rest = [part for part in rest if part]
        match rest:
            case [] | ["tree", _]:
                return partial(_card, kind=kind, owner=owner, name=name, branch=rest[1] if rest else "main")
            case ["blob", branch, *path] if path:
                return partial(_file, kind=kind, owner=owner, name=name, branch=branch, path=tuple(path))
        return None


def _place(kind: str, owner: str, name: str) -> tuple[str, ...]:
    return (owner, name) if kind == "models" else (kind, owner, name)


def _card(api: Api, kind: str, owner: str, name: str, branch: str) -> Asked[Reading]:
    found = yield from api.object("api", kind, owner, name, holds="id")
    readme = yield from api.optional(api.text(*_place(kind, owner, name), "raw", branch, "README.md"), "its card")
    card = found["cardData"]
    license_name = card["license"].line or joined(one.line for one in card["license"])
    document = api.document(f"{found['id'].line or f'{owner}/{name}'} ({kind.removesuffix('s')})")
    document.facts(
        ("Task", found["pipeline_tag"].line),
        ("Library", found["library_name"].line),
        ("SDK", found["sdk"].line),
        ("License", license_name),
        ("Languages", card["language"].line or joined(one.line for one in card["language"])),
        ("Base model", card["base_model"].line or joined(one.line for one in card["base_model"])),
        ("Data sets", joined(one.line for one in card["datasets"])),
        ("Parameters", f"{found['safetensors']['total'].number:,}" if found["safetensors"]["total"].number else ""),
        ("Access", "gated" if found["gated"].raw not in (None, False) else ""),
        ("Downloads", found["downloads"].number),
        ("Likes", found["likes"].number),
        ("Created", found["createdAt"].day),
        ("Changed", found["lastModified"].day),
        ("Tags", joined((tag.line for tag in found["tags"]), most=30)),
    )
    if readme:
        document.markdown(files.without_front_matter(readme))
    names = [one["rfilename"].line for one in found["siblings"]]
    if names:
        document.heading(2, "Files")
        document.entries(names[:MAX_FILES], more=len(names) - MAX_FILES, what="more files")
    return document.reading(author=found["author"].line, published=found["createdAt"].date)


def _file(api: Api, kind: str, owner: str, name: str, branch: str, path: tuple[str, ...]) -> Asked[Reading]:
    if files.NOT_TEXT.search(path[-1]):
        raw = api.place.url.partition("#")[0].replace("/blob/", "/resolve/", 1)
        detail = "a file of this kind is read as it is, not through the API"
        raise SiteFailed(detail, outcome=Outcome.UNSUPPORTED, instead=raw)
    text = yield from api.text(*_place(kind, owner, name), "raw", branch, *path)
    document = api.document("/".join([owner, name, *path]))
    document.facts(("Branch, tag or commit", branch))
    files.write(document, path[-1], text, api.place.url, fragment=api.place.fragment)
    return document.reading()


def _paper(api: Api, number: str) -> Asked[Reading]:
    found = yield from api.object("api", "papers", number, holds="title")
    authors = joined(_name(author) for author in found["authors"])
    document = api.document(found["title"].line)
    document.facts(
        ("Authors", authors),
        ("Published", found["publishedAt"].day),
        ("Votes", found["upvotes"].number),
        ("arXiv", f"https://arxiv.org/abs/{number}"),
    )
    document.heading(2, "Abstract")
    document.markdown(found["summary"].text)
    return document.reading(author=authors, published=found["publishedAt"].date)


def _name(author: Value) -> str:
    return author["name"].line
