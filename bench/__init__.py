"""Contains the benchmarks: each file answers one question.  `./dev bench NAME` runs one."""
