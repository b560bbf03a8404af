"""What can go wrong for a query, each with a sentence that says what to do.

SparkFault               the sentence is all: Spark shows the class and the text
  JavaMissing            there is no Java that Spark runs on
"""

from __future__ import annotations


class SparkFault(Exception):
    """Something stops a query; the sentence says what to do."""


class JavaMissing(SparkFault):
    """There is no Java that Spark runs on."""
