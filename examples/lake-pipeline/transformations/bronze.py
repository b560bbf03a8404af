"""Bronze: messages as they came, each once; the queue keeps them."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

spark = SparkSession.active()


@dp.table(comment="messages as they came")
def bronze() -> DataFrame:
    return (
        spark.readStream.format("reliquary")
        .option("url", spark.conf.get("spark.reliquary.server"))
        .option("queue", spark.conf.get("spark.reliquary.queue"))
        .option("consumer", "lake-pipeline")
        .load()
    )
