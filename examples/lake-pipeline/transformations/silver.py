"""Silver: messages decoded with the codecs of the server; what cannot be read goes to the quarantine."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from reliquary.spark.pipelines.silver import decoded, quarantined, understood
from reliquary.wire.columns import NAMES

spark = SparkSession.active()


def read() -> DataFrame:
    return decoded(spark.readStream.table("bronze"), variants=False, columns=NAMES)


@dp.table(comment="messages decoded: kind, text, data, SRMP, SOAP, HTTPR, MIME parts")
def silver() -> DataFrame:
    return understood(read(), NAMES)


@dp.table(comment="messages that could not be read, as they came, and why")
def quarantine() -> DataFrame:
    return quarantined(read(), NAMES)
