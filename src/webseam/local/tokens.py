"""Words out of identifiers and out of questions, so that one index serves both.

`parse_qs`, `HTTPServer` and `urllib.parse` must be found whole and by their parts, and `getcwd` by "current working
directory". SQLite's own tokenizers cannot be extended from the standard library, so the parts are added to the text
before it is indexed. Reading and asking must split and stem alike, which is why both live here.
Changing what `expand` returns means raising `schema.VERSION`: texts are taken out of the index by writing the same
words again.
"""

from __future__ import annotations

import re
from functools import lru_cache

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_WORD = re.compile(r"\w+")
_IDENTIFIER = re.compile(r"(?:[^\W\d]\w*)(?:(?:\.|::|#|/)[^\W\d]\w*)*")
_CALL = re.compile(r"\(.{0,200}\)$", re.DOTALL)

LONGEST_WORD = 64  # characters; longer runs are data (keys, hashes), not words
MAX_REMEMBERED = 200_000  # words; a build meets about as many
LONG_ADVERB = 7  # letters from which "-ly" is an ending: "randomly", not "apply"
SHORTEST_PIECE = 2  # letters; single ones match everything

# Words that say how a question is asked, not what it is about.
STOPWORDS = frozenset(
    "a about all am an and any are as at be been being but by can could did do does doing each every for from had"
    " has have how i if in into is it its just like me my of on onto or our over please s should so some such than"
    " that the their them then there these they this those to up us was we were what when where which while who"
    " whom whose why will with would you your".split()
)
# Verbs and nouns so common in questions that a hit may lack them.
WEAK = frozenset(
    "best calculate code compute example examples find function get give library make method module need obtain"
    " perform python return returns several simple something tell thing use used using want way work".split()
)
# Words people use for one another in questions about programs; each group means the same.
_SAME = (
    ("folder", "directory", "dir"),
    ("folders", "directories", "dirs"),
    ("delete", "remove"),
    ("terminal", "console", "tty"),
    ("create", "make", "new"),
    ("execute", "run"),
    ("password", "passphrase"),
    ("duplicate", "copy"),
    ("random", "randomly"),
    ("quit", "exit"),
    ("pick", "choose", "select"),
    ("ask", "prompt"),
    ("show", "display"),
    ("start", "begin", "launch"),
    ("find", "locate", "location"),
    ("convert", "transform"),
    ("big", "large"),
)
SYNONYMS: dict[str, tuple[str, ...]] = {word: group for group in _SAME for word in group}

# What the short forms in names stand for.
_MEANING = {
    "abs": "absolute", "addr": "address", "arg": "argument", "args": "arguments", "async": "asynchronous",
    "attr": "attribute", "attrs": "attributes", "auth": "authentication", "cert": "certificate",
    "certs": "certificates", "char": "character", "chars": "characters", "cls": "class", "cmd": "command",
    "cmp": "compare", "conf": "configuration", "config": "configuration", "conn": "connection", "ctx": "context",
    "cwd": "current working directory", "db": "database", "dec": "decode", "del": "delete", "dest": "destination",
    "dict": "dictionary", "dir": "directory", "dirs": "directories", "dst": "destination", "elem": "element",
    "enc": "encode", "env": "environment", "err": "error", "exc": "exception", "exec": "execute",
    "ext": "extension", "fmt": "format", "ftime": "format time", "func": "function", "hex": "hexadecimal",
    "info": "information", "init": "initialize", "int": "integer", "ip": "internet protocol address",
    "iter": "iterate iterator", "lang": "language", "len": "length", "lib": "library", "lst": "list",
    "max": "maximum", "mem": "memory", "min": "minimum", "mk": "make", "mod": "module", "msg": "message",
    "num": "number", "obj": "object", "param": "parameter", "params": "parameters", "pkg": "package",
    "pos": "position", "proc": "process", "ptime": "parse time", "pwd": "password", "re": "regular expression",
    "ref": "reference", "regex": "regular expression", "repr": "representation", "req": "request", "rm": "remove",
    "seq": "sequence", "src": "source", "stat": "status", "str": "string", "sync": "synchronous", "sys": "system",
    "temp": "temporary", "tmp": "temporary", "tz": "time zone", "usr": "user", "val": "value", "var": "variable",
    "vars": "variables", "ver": "version",
}  # fmt: skip

# Words that older interfaces run together: "makedirs", "urlparse", "startswith".
_PIECES = frozenset(
    "abs add address all any append arg args array ascii attr base basic bin bind bit bool break buffer by byte"
    " bytes cache call case center change char check child chmod class clean clear client close cmd code color"
    " command common compare compile complete compress config connect const context copy count create ctl current"
    " cwd data date day db dead debug decode decompress deep default del delete desc dest dev dict diff dir dirs"
    " disk doc down dump dumps edit empty encode end ends entry env error escape eval event exc exec exist exists"
    " exit expand ext extend factory fail fd field file fileno files fill filter find first flags flat float flush"
    " fmt fold for format free from ftime full func gen get give group handle has hash head headers hex home host"
    " html http id in index info init input insert int io ip is item items iter join key keys kill last left len"
    " length lib limit line lines link list listen load loads local lock log loop lower make map mask match max mb"
    " mem min mk mod mode module month mount move mt name names new next node none not now num number obj off on"
    " one open options order out over pack param parent parse parser part pass passwd path paths peer pipe pop"
    " port pos post prefix print priority proc process prop ptime push put query queue quote raise rand random"
    " range raw re read reader ready real recv ref remove rename repeat replace report repr request reset resource"
    " response result reverse right rm root round run safe save scan search seek select send seq serve server"
    " session set shell shift shut size sleep sock socket sort sorted space spawn split stack start starts stat"
    " state status std stem step stop store str stream string strip sub suffix swap sync sys system tab table tail"
    " task tell temp term test text thread tick time times title tmp to token tool tools top total trace tree trim"
    " truncate type types un unpack up update upper url urls user util utils val value values var vars version"
    " view void wait walk warn week with word words work wrap write writer year zip zone".split()
)


def parts(word: str) -> tuple[str, ...]:
    """Return the lower-case parts of one identifier, nothing when it has only one: `HTTPServer` -> http, server."""
    found = [piece.lower() for piece in _PART.findall(word)]
    kept = dict.fromkeys(piece for piece in found if len(piece) >= SHORTEST_PIECE)
    kept.pop(word.lower(), None)
    return tuple(kept)


@lru_cache(maxsize=16384)
def pieces(word: str) -> tuple[str, ...]:
    """Return the words a lower-case compound is run together from, nothing unless all of it is known words."""
    if len(word) < 2 * SHORTEST_PIECE + 1 or word in _PIECES or not word.isalpha():
        return ()
    best: list[tuple[str, ...] | None] = [()] + [None] * len(word)  # the fewest words that end at each place
    for end in range(SHORTEST_PIECE, len(word) + 1):
        for start in range(max(0, end - 10), end - 1):
            before = best[start]
            if before is None or word[start:end] not in _PIECES:
                continue
            known = best[end]
            if known is None or len(before) + 1 < len(known):
                best[end] = (*before, word[start:end])
    return best[-1] or ()


def expand(text: str) -> str:
    """Return `text` with the parts of its compound identifiers written behind it, each once."""
    extra: set[str] = set()
    for word in set(_WORD.findall(text)):
        found = _PARTS.get(word)
        if found is None:
            if len(_PARTS) > MAX_REMEMBERED:
                _PARTS.clear()
            found = _PARTS[word] = parts(word) if len(word) <= LONGEST_WORD else ()
        if found:
            extra.update(found)
    return f"{text} {' '.join(sorted(extra))}" if extra else text


_PARTS: dict[
    str, tuple[str, ...]
] = {}  # a plain dict: this is the inner loop of a build, and a cache call costs four times as much


@lru_cache(maxsize=65536)
def expand_name(name: str) -> str:
    """Return a name, dotted or not, with its parts, the words it is run together from and what they stand for."""
    words: dict[str, None] = {}
    for whole in _WORD.findall(name):
        words[whole.lower()] = None
        for part in parts(whole) or (whole.lower(),):
            words[part] = None
            for piece in (*pieces(part), part):
                words[piece] = None
                if piece in _MEANING:
                    words.update(dict.fromkeys(_MEANING[piece].split()))
    return " ".join(words)


def words_of(text: str) -> list[str]:
    """Return the lower-case words of `text` in order, identifiers whole."""
    return _WORD.findall(text.lower())


def ask(query: str) -> list[str]:
    """Return the words of a question that matter, in order and once each; all of them when none would be left."""
    words = list(dict.fromkeys(word for word in words_of(query) if len(word) <= LONGEST_WORD))
    return [word for word in words if word not in STOPWORDS] or words


def identifier(query: str) -> str | None:
    """Return the dotted name a query consists of, or None: `json.loads()` -> json.loads, `Path#cwd` -> Path.cwd."""
    bare = _CALL.sub("", query.strip().strip("`"))
    if len(bare) > 4 * LONGEST_WORD or not _IDENTIFIER.fullmatch(bare):
        return None
    return re.sub(r"::|#|/", ".", bare)


def stems(text: str) -> str:
    """Return the stems of the words of `text`, each once, as one text."""
    return " ".join(dict.fromkeys(map(stem, words_of(text))))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a lower-case word without its commonest English endings; identifiers of several parts stay as they are."""
    if len(word) < 4 or not word.isalpha() or not word.isascii():
        return word
    if word.endswith("ly") and len(word) >= LONG_ADVERB:
        word = word[:-2]
    for ending, instead in _SUFFIXES:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            root = word[: -len(ending)] + instead
            if ending in ("ing", "ed", "er") and len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz":
                root = root[:-1]
            return root.removesuffix("e")
    return word.removesuffix("e")


_SUFFIXES = (
    ("ational", "ate"), ("ization", "ize"), ("ations", "ate"), ("ation", "ate"), ("ies", "y"), ("ing", ""), ("ers", ""),
    ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("ed", ""), ("er", ""), ("ss", "ss"), ("us", "us"),
    ("is", "is"), ("s", ""),
)  # fmt: skip
