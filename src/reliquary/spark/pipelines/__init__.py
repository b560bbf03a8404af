"""Runs pipelines over queues and histories: the lake, its replay into a queue, and the delivery audit.

It may import `client`, `wire` and `base`.  Begin with `lake`.

decode, text, content      the content of bodies; pure functions in the tasks of Spark
tables, delta              batches that a reader sees whole and once, as Parquet or Delta
bronze, silver, gold       the three steps of the lake; `lake` runs them
replay                     a slice of the lake back into a queue, once
"""
