"""Queues as a source and an exactly-once sink of Spark, and what pipelines are built with.

It may import `client`, `wire` and `base`.  Begin with `format`.

    plan, rows, schema, options     what is decided; no Spark is needed to ask them
    source, sink                    thin shells around them, which Spark calls
    java, session                   a Java and a session with our defaults

Spark finds the source by itself, through the package `pyspark_reliquary`.
The room imports `client` and `base`, and reaches queues by HTTP alone.
"""
