"""Lets Spark find the format `reliquary` by itself: it looks for packages of this kind of name.

spark.read.format("reliquary").option("url", "http://127.0.0.1:8480").option("queue", "orders").load()
"""

from reliquary.spark.format import ReliquarySource as DefaultSource

__all__ = ["DefaultSource"]
