"""Giving the tools to the agents that are installed: what would change in whose file, and writing it.

Apart from the command line, which asks and prints: everything here can be tested on files in a folder, and where a
client of another operating system keeps its own is a pure function. Imports nothing of the network.
"""
