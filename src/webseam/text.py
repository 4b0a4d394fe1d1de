"""Cleaning of text that came from outside, before a model, a terminal or a log sees it.

Web text can carry escape sequences that repaint a terminal, direction marks that reorder what a person reads, and
invisible characters that only a model reads. One place removes them, so that no front has to remember to.
Must not import the network layer: the errors of that layer quote through here.
"""

from __future__ import annotations

import html
import re
import unicodedata

QUOTE_LIMIT = 200  # characters of somebody else's words that an error may repeat
SNIPPET_LIMIT = 800  # characters of a hit's snippet; longer extracts belong to `passages`

# CSI, OSC (ended by BEL or ST), other string sequences, and two-byte escapes; C1 forms included. Linear on purpose.
# A string without its end loses its introducer only: mis-decoded text has single C1 letters (`ž` in Windows-1252 is
# 0x9e), and taking everything behind one away would silently cut the text there.
_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x80-\x9f]*+(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Characters without a picture of their own that steer layout or hide text: soft hyphen, Arabic letter mark,
# Hangul fillers, Mongolian selectors, zero-width and direction marks, invisible operators, BOM, interlinear
# anchors, shorthand and musical format controls, tag characters, variation selectors. Joiners and U+FE0F are kept below
# where the letters around them need them.
HIDDEN = (  # the inside of a character class; URLs need it too
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{HIDDEN}]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_JOINERS = "\u200c\u200d"
_TAG = re.compile(r"<(?:/?[A-Za-z][^<>]*|!--(?s:(?!<!--|-->).)*+--|![A-Za-z][^<>]*)>")  # a comment with its contents
_UNFINISHED_TAG = re.compile(r"<(?:/?[A-Za-z][^<>]{0,200})?$")
# The target has to look like an address: `handlers[name](event)` in a snippet is code.
_LINK = re.compile(
    r"!?\[([^\[\]]{0,300})\]\((?:<([^<>\s]{1,2000})>|((?=[^()\s]*[:/.?#])[^()\s]{1,2000}))(?:\s+\"[^\"]{0,300}\")?\)"
)
_NESTED_LINKS = 3  # an image inside a link is common; deeper is defused whole

# Scripts in which a joiner changes how the neighbouring letters are written.
_JOINING_SCRIPTS = ((0x0600, 0x08FF), (0x0900, 0x0DFF), (0x0E00, 0x109F), (0x1780, 0x18AF), (0xA800, 0xABFF))


def clean(text: str) -> str:
    """Return `text` without escape sequences, control, direction and hidden characters. Newlines and tabs stay.

    Joiners stay inside emoji and in scripts that need them; a lone surrogate becomes U+FFFD.
    """
    if text.isascii() and text.isprintable():
        return text
    if "\x1b" in text or not text.isascii():
        text = _ESCAPE.sub("", text)
    text = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if text.isascii():
        return text
    text = _SURROGATE.sub("\ufffd", text)
    return _INVISIBLE.sub(_keep_needed, text)


def _keep_needed(found: re.Match[str]) -> str:
    """Keep one joiner or one variation selector where the letters around it need it; drop everything else."""
    run, text = found.group(), found.string
    if len(run) > 2:  # no script needs three in a row; runs are how bytes are smuggled
        return ""
    before = text[found.start() - 1] if found.start() else ""
    after = text[found.end()] if found.end() < len(text) else ""
    if not before:
        return ""
    kept = ""
    for mark in run:
        emoji = unicodedata.category(before) in ("So", "Sm", "Sk", "Mn") or before in "#*0123456789\u200d"
        if mark == "\ufe0f" and emoji:
            kept += mark
        elif mark in _JOINERS and after:
            joins_letters = _in_joining_script(before) and _in_joining_script(after)
            joins_emoji = mark == "\u200d" and emoji and unicodedata.category(after) in ("So", "Sm")
            if joins_letters or joins_emoji:
                kept += mark
    return kept


def _in_joining_script(character: str) -> bool:
    point = ord(character)
    return any(low <= point <= high for low, high in _JOINING_SCRIPTS)


def squeeze(text: str) -> str:
    """Return `text` on one line, runs of white space made one space, ends trimmed."""
    return " ".join(text.split())


def clip(text: str, limit: int) -> str:
    """Return `text` cut to at most `limit` characters at a word edge, with an ellipsis when something was cut."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    edge = cut.rfind(" ")
    if edge > limit // 2:  # one very long word is cut inside rather than lost
        cut = cut[:edge]
    return cut.rstrip(" ,;:" + _JOINERS) + "…"  # a joiner with nothing to join is a hidden character


def plain(fragment: str) -> str:
    """Return an HTML fragment of a search API as one line of text: tags stripped, entities unescaped once, cleaned.

    Markdown links and images become their label and address, so that nothing loads or hides behind a label.
    """
    if fragment.isascii() and fragment.isprintable() and not _is_marked(fragment):
        return fragment.strip()  # most of them: a few scans instead of taking the text apart
    if "<" in fragment:  # cleaned before too: a hidden character inside a tag would keep it from being one
        fragment = _UNFINISHED_TAG.sub("", _TAG.sub("", clean(fragment)))
    if "&" in fragment:
        fragment = html.unescape(fragment)
    text = squeeze(clean(fragment))
    for _ in range(_NESTED_LINKS if "](" in text else 0):
        text = _LINK.sub(lambda link: f"{link[1].strip()} ({link[2] or link[3]})".strip(), text)
    return text.replace("](", "] (")


def _is_marked(text: str) -> bool:
    """True when there is markup, an entity, a link or a run of spaces to take care of."""
    return "<" in text or "&" in text or "](" in text or "  " in text


def quote(words: str) -> str:
    """Return somebody else's words fit for an error: cleaned, one line, at most `QUOTE_LIMIT` characters.

    Secrets must be removed before: a cut could leave half of one that no longer matches.
    """
    return clip(squeeze(clean(words)), QUOTE_LIMIT)
