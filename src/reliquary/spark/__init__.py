"""Provides queues as a source and an exactly-once sink of Spark, and the pipelines.

It may import `client`, `wire` and `base`.  Begin with `format`.

    plan, rows, schema, options            decisions, which need no Spark
    managers, looking, planning, cursors   questions to all managers of a query
    source, stream, sink                   thin shells around them, which Spark calls
    java, session                          a Java and a session with defaults

Spark finds the source by itself, through the package `pyspark_reliquary`.
The room imports `client` and `base`, and reaches queues by HTTP alone.
"""
