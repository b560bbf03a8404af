"""`format("reliquary")`: what Spark asks for a reader or a writer."""

from __future__ import annotations

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from reliquary.spark.errors import BadOption
from reliquary.spark.option_list import SOURCE, For
from reliquary.spark.options import parse_reading, parse_writing
from reliquary.spark.schema import ddl, projection, written
from reliquary.spark.sink import StreamWriter, Writer
from reliquary.spark.source import batch_reader
from reliquary.spark.stream import StreamReader


class ReliquarySource(DataSource):
    """Queues of a server, to be read and written."""

    @classmethod
    def name(cls) -> str:
        """The word for `format`."""
        return "reliquary"

    def schema(self) -> str:
        """All columns; asked at `load`, so bad options are refused there."""
        return ddl(headers=parse_reading(self.options, SOURCE).headers)

    def reader(self, schema: StructType) -> DataSourceReader:
        """For `spark.read`."""
        return batch_reader(parse_reading(self.options, For.READ), projection(schema.fields))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """For `spark.readStream`."""
        return StreamReader(parse_reading(self.options, For.STREAM), projection(schema.fields))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """For `df.write`."""
        if overwrite:
            raise BadOption('a queue is not overwritten: use mode("append")')
        options = parse_writing(self.options, For.WRITE, queue_column="queue" in schema.names)
        return Writer(options, written(schema.fields, options.key))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        """For `df.writeStream`."""
        if overwrite:
            raise BadOption('a queue is not overwritten: use outputMode("append")')
        options = parse_writing(self.options, For.SINK, queue_column="queue" in schema.names)
        return StreamWriter(options, written(schema.fields, options.key))
