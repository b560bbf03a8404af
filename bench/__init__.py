"""Benchmarks: a file a question.  `./dev bench NAME` runs one."""
