"""Reading a page: bytes to Markdown a model can use.

The parts stand here; the pipeline that joins them, and the command, are not there yet. Nothing of this package is
loaded by a search.
"""
