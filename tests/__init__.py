"""The tests, as a package so that shared servers and tables are imported as `tests.world`."""
