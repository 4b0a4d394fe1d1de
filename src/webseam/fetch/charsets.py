"""Names of character encodings: what a label on the web means, and which encoding unlabelled bytes are most likely in.

A label is looked up in a list of text encodings and never by Python's codec registry, whose names include compressors,
`rot13` and UTF-7: a page could otherwise choose what its own bytes are run through. Labels mean what the Encoding
Standard of the WHATWG says they mean, since that is what the pages were tested with.
"""

from __future__ import annotations

import re
from collections import Counter
from encodings.aliases import aliases
from typing import Final

_MAX_LABEL: Final = 40  # characters; the longest in use has 19
_NOT_IN_NAME = re.compile(r"[^a-z0-9]+")
_ISO_8859 = re.compile(r"(?:cs)?iso_?8859_?(\d{1,2})(?:_?[ei])?")
_CODE_PAGE = re.compile(r"(?:x_)?(?:cp|windows|dos|win|ibm)_?(\d{3,4})")

_BY_CODEC: Final = {  # Python's codec: the name the web has for it
    "utf_8": "utf-8",
    "utf_16_le": "utf-16le",
    "utf_16_be": "utf-16be",
    "utf_32_le": "utf-32le",
    "utf_32_be": "utf-32be",
    "cp1252": "windows-1252",
    "gb18030": "gb18030",
    "big5hkscs": "big5",
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "cp949": "euc-kr",
    "cp874": "windows-874",
    "koi8_r": "koi8-r",
    "koi8_u": "koi8-u",
    "mac_roman": "macintosh",
    "mac_cyrillic": "x-mac-cyrillic",
    **{f"cp{page}": f"windows-{page}" for page in (1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258)},
    **{f"cp{page}": f"ibm{page}" for page in (437, 850, 852, 855, 858, 862, 866)},
    **{f"iso8859_{part}": f"iso-8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
}
_MEANT: Final = {  # what the standard reads a codec's name as: a superset that old software wrote under that name
    "ascii": "cp1252",
    "latin_1": "cp1252",
    "iso8859_1": "cp1252",
    "iso8859_9": "cp1254",
    "iso8859_11": "cp874",
    "tis_620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf_16": "utf_16_le",
    "utf_32": "utf_32_le",
}
_ALSO: Final = {  # labels of the standard that Python has no alias for, in normalised spelling
    **dict.fromkeys("unicode_1_1_utf_8 unicode11utf8 unicode20utf8 x_unicode20utf8 utf8mb4".split(), "utf_8"),
    **dict.fromkeys("csunicode iso_10646_ucs_2 ucs_2 unicode unicodefeff".split(), "utf_16_le"),
    **dict.fromkeys("csgb2312 gb_2312 gb_2312_80 x_gbk".split(), "gb18030"),
    **dict.fromkeys("cn_big5 x_x_big5".split(), "big5hkscs"),
    **dict.fromkeys("windows_31j x_sjis".split(), "cp932"),
    **dict.fromkeys("cseucpkdfmtjapanese x_euc_jp".split(), "euc_jp"),
    **dict.fromkeys("cseuckr csksc56011987 iso_ir_149 ks_c_5601_1989 ksc_5601 windows_949".split(), "cp949"),
    **dict.fromkeys("csmacintosh mac x_mac_roman".split(), "mac_roman"),
    **dict.fromkeys("x_mac_cyrillic x_mac_ukrainian".split(), "mac_cyrillic"),
    **dict.fromkeys("visual logical".split(), "iso8859_8"),
    **dict.fromkeys("cp819 ibm819".split(), "cp1252"),
    **dict.fromkeys("cp936 windows_936".split(), "gb18030"),
    **dict.fromkeys("cp950 windows_950".split(), "big5hkscs"),
    "cp65001": "utf_8",
    "unicodefffe": "utf_16_be",
    "sun_eu_greek": "iso8859_7",
    "csisolatin9": "iso8859_15",
    "koi": "koi8_r",
    "koi8": "koi8_r",
    "koi8_ru": "koi8_u",
}

# What detection may find; of equally likely ones the first. Those whose bytes must come in pairs lead, since a text
# rarely obeys their rules by chance. UTF-7 and others that look like ASCII to every other reader are left out.
_DETECTABLE: Final = (
    "cp932 euc_jp cp949 gb18030 big5hkscs cp1251 koi8_r koi8_u iso8859_5 cp866 mac_cyrillic cp1253 iso8859_7 cp1255 "
    "cp1256 cp874 utf_8 cp1252 cp1250 iso8859_2 cp1254 cp1257 cp1258"
).split()
_LATIN: Final = "cp1252 cp1250 iso8859_2 cp1254 cp1257 cp1258".split()  # of equals, the first
_MARKS: Final = "“”‘’‚„‹›«»–—…•·°©®™€£§×¿¡ªº\xa0\xad´"
_ALPHABETS: Final = (  # the letters outside ASCII that one language is written with
    "áéíóúüñ",  # Spanish
    "áâãàçéêíóôõúü",  # Portuguese
    "àâçéèêëîïôùûüœæ",  # French
    "äöüß",  # German
    "àèéìíòóù",  # Italian
    "åäöéøæ",  # Swedish, Danish, Norwegian, Finnish
    "áéíóúýþðæö",  # Icelandic
    "áčďéěíňóřšťúůýž",  # Czech
    "áäčďéíĺľňóôŕšťúýž",  # Slovak
    "ąćęłńóśźż",  # Polish
    "áéíóöőúüű",  # Hungarian
    "âăîșțşţ",  # Romanian
    "čćđšž",  # Croatian, Slovenian
    "çğıöşüİâî",  # Turkish
    "ąčęėįšųūž",  # Lithuanian
    "āčēģīķļņšūž",  # Latvian
    "äöõüšž",  # Estonian
    "áàçéèíïóòúüŀ",  # Catalan
    "àáâãăđèéêìíòóôơùúưý\u0300\u0301\u0303\u0309\u0323",  # Vietnamese, tones as marks of their own
)
_EXPLAINED: Final = tuple(frozenset(letters + letters.upper() + _MARKS) for letters in _ALPHABETS)
_LIKELY: Final = 0.9  # share of the bytes above ASCII that letters of one language and marks explain
_POSSIBLE: Final = 0.6
_ASCII: Final = bytes(range(128))
_RUN = re.compile(rb"[\x80-\xff]{4,}")


def codec_of(label: str) -> str | None:
    """Return the name of Python's codec for a label of the web, or None for what is no text encoding or unknown.

    UTF-7, HZ and the stateful Korean and Chinese encodings are unknown, as in browsers.
    """
    if len(label) > _MAX_LABEL:
        return None
    name = _NOT_IN_NAME.sub("_", label.lower()).strip("_")
    if name in _ALSO:
        codec = _ALSO[name]
    elif numbered := _ISO_8859.fullmatch(name):
        codec = f"iso8859_{numbered[1]}"
    elif numbered := _CODE_PAGE.fullmatch(name):
        codec = f"cp{numbered[1]}"
    else:
        codec = aliases.get(name, name)
    codec = _MEANT.get(codec, codec)
    return codec if codec in _BY_CODEC else None


def web_name(codec: str) -> str:
    """Return the name that the web has for a codec that `codec_of` or `detect` gave."""
    return _BY_CODEC[codec]


def detect(sample: bytes) -> str | None:
    """Return the codec that a sample of text is most likely in, or None when nothing fits.

    Expects some bytes above ASCII and that UTF-8 and UTF-16 were ruled out. Languages in Latin letters are told
    apart here by their alphabets: a general detector takes Spanish for Central European, where its letters are others.
    """
    from charset_normalizer import from_bytes

    latin, explained = _latin(sample)
    if explained >= _LIKELY and not is_dense(sample):
        return latin
    matches = from_bytes(sample, cp_isolation=_DETECTABLE, enable_fallback=False)
    equals = [match for match in matches if (match.chaos, match.coherence) == (matches[0].chaos, matches[0].coherence)]
    found = min((match.encoding for match in equals), key=_DETECTABLE.index, default=None)
    if found is not None and found not in _LATIN:
        return found if found in _BY_CODEC else None
    return latin if explained >= _POSSIBLE else found


def is_dense(sample: bytes) -> bool:
    """True when most bytes above ASCII stand in runs, as they do where words have no Latin letters."""
    return 2 * sum(map(len, _RUN.findall(sample))) > len(_above_ascii(sample))


def _above_ascii(sample: bytes) -> bytes:
    return sample.translate(None, _ASCII)


def _latin(sample: bytes) -> tuple[str, float]:
    """Return the encoding for Latin letters under which one language explains most bytes, and their share."""
    counts = Counter(_above_ascii(sample))
    total = max(1, counts.total())
    best, share = _LATIN[0], 0.0
    for codec in _LATIN:
        letters = {byte: bytes([byte]).decode(codec, "replace") for byte in counts}
        for known in _EXPLAINED:
            explained = sum(count for byte, count in counts.items() if letters[byte] in known) / total
            if explained > share:
                best, share = codec, explained
    return best, share
