"""HTTPR's bytes: command headers, message headers and batches, read while they arrive."""
