"""The tools over the Model Context Protocol: for agents that start a program and talk to it, or reach it by HTTP.

The official SDK is imported only when a client has been answered: loading it takes longer than all of webseam.
"""
