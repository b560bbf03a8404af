"""Builds all objects of a server: settings --> a running server --> an exit code.

It imports every room but `cli`.  Begin with `build`.
"""
