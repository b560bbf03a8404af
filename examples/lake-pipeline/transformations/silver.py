"""Silver: messages decoded with the codecs of the server; what cannot be read goes to the quarantine."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from reliquary.spark.pipelines.silver import decoded, quarantined, understood

spark = SparkSession.active()


@dp.table(comment="messages decoded: kind, text, data, SRMP, SOAP, HTTPR, MIME parts")
def silver() -> DataFrame:
    return understood(decoded(spark.readStream.table("bronze"), variants=False))


@dp.table(comment="messages that could not be read, as they came, and why")
def quarantine() -> DataFrame:
    bronze = spark.readStream.table("bronze")
    return quarantined(decoded(bronze, variants=False), bronze.columns)
