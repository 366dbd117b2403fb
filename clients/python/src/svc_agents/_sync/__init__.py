# Written by scripts/python.js from _async/__init__.py.
"""One half of the client."""
