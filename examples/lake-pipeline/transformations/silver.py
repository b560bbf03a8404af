"""Silver: messages decoded with the codecs of the server; what cannot be read goes to the quarantine."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from reliquary.spark.pipelines.silver import decoded, quarantined, understood
from reliquary.spark.schema import ddl

spark = SparkSession.active()
# A definition may not ask a table for its columns: there is none yet.
COLUMNS = StructType.fromDDL(ddl())


def read() -> DataFrame:
    return decoded(spark.readStream.table("bronze"), variants=False, columns=COLUMNS)


@dp.table(comment="messages decoded: kind, text, data, SRMP, SOAP, HTTPR, MIME parts")
def silver() -> DataFrame:
    return understood(read())


@dp.table(comment="messages that could not be read, as they came, and why")
def quarantine() -> DataFrame:
    return quarantined(read(), COLUMNS.names)
