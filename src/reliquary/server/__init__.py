"""The one place that builds objects: settings --> a running server --> an exit code."""
