"""The fronts: each parses, calls the core through `webseam.web`, and renders. No rule lives here."""
