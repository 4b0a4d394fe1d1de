"""The tools over the Model Context Protocol: for agents that start a program and talk to it, or reach it by HTTP.

Only `server` and `http` import the official SDK, and only when a client has been answered: loading it takes longer than
all of webseam.
"""
