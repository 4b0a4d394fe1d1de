"""The bytes of a file as text and back: byte order mark and Windows line ends are taken off and put on again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from webseam.setup.malformed import Malformed

_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Contents:
    """A text with how it is kept.

    Attributes:
        text: with `\\n` at the end of lines, unless the file mixes the two ends: then as it is.
        mark: whether a byte order mark stands in front. windows: whether all lines end in `\\r\\n`.
    """

    text: str
    mark: bool = False
    windows: bool = False

    @classmethod
    def of(cls, contents: bytes | None) -> Contents:
        """Return the text of a file; that of an absent one is empty.

        Raises:
            Malformed: it is not UTF-8.
        """
        if contents is None:
            return cls("")
        mark = contents.startswith(_MARK)
        try:
            text = contents.removeprefix(_MARK).decode()
        except UnicodeDecodeError as error:
            raise Malformed("is not UTF-8", contents.count(b"\n", 0, error.start) + 1) from None
        windows = text.count("\n") == text.count("\r\n") == text.count("\r") > 0
        return cls(text.replace("\r\n", "\n") if windows else text, mark, windows)

    def with_text(self, text: str) -> bytes:
        """Return another text kept in the same way."""
        return _MARK * self.mark + (text.replace("\n", "\r\n") if self.windows else text).encode()
