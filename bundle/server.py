"""What a desktop client runs out of the bundle: the server of the package that `pyproject.toml` beside it names."""

import sys

from webseam.fronts.cli import main

sys.argv = ["webseam", "mcp"]
sys.exit(main())
