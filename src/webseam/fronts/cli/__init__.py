"""The command line. It parses, calls the core and prints; no rule of searching lives here.

This file is what the console script imports, so it loads nothing else before it must.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run `webseam` and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a Windows code page or LANG=C must not turn text into an error
            stream.reconfigure(encoding="utf-8", errors="replace")
    from webseam.fronts.cli.app import run

    return run()
