"""Checks of the running product from outside: over HTTP and by its commands.

Each module of this package with a function `check(arguments, product)` is a check of its name,
with hyphens for underscores: one file more is one check more. It gives a sentence that says what
agreed, or raises `Failed` with what did not.
"""
