"""The documentation of what is installed on this machine, as a search provider. Nothing is sent anywhere.

In `auto` it comes last: its hits answer "how do I use this library", not "what happened today", and they say so.
"""

from __future__ import annotations

from webseam.providers.base import NATIVE, Provider


class Local(Provider):
    id = "local"
    label = "Documentation installed here"
    rank = 900
    means = "index"
    key = "none"
    options = {"page": NATIVE}
    kinds = {"code": NATIVE}
    max_count = 100
    price = 0.0
    private = True
