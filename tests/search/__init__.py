"""Searching, over real connections to servers on loopback."""
