"""The tools for agent frameworks, one module each, named after the framework.

Each module turns the same tools into the framework's own kind of tool and signals failures its way; what a model reads
is the same in all of them. A module imports its framework, so nothing here may import a module: whoever uses one names
it. None of the frameworks is a dependency of webseam.
"""
