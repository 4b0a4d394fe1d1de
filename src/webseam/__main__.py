"""`python -m webseam`, for where the command itself is not on the path.

Imports the command line only when it runs: tools that walk packages import every module, this one included.
"""

from __future__ import annotations

if __name__ == "__main__":
    import sys

    from webseam.fronts.cli import main

    sys.exit(main())
