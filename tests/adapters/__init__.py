"""Adapters for agent frameworks, and what their tests share with those that need the frameworks."""
