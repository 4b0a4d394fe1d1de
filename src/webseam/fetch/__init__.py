"""Reading a page: from a URL to Markdown that a model can use.

`request` is what is wanted, `pipeline` the order of what is tried, `service` what fetches share; readers, sites and the
ways around a page that gives no text stand beside them. Nothing of this is loaded by a search that reads nothing.
"""
