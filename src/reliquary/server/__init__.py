"""The one place that builds objects: settings --> a running server --> an exit code.

It imports every room but `cli`.  Begin with `build`.
"""
