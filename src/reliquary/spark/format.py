"""Implements `format("reliquary")`: the class from which Spark gets readers and writers."""

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
from reliquary.spark.option_list import SOURCE, OptionUse
from reliquary.spark.options import parse_reading, parse_writing
from reliquary.spark.schema import ddl, projection, written
from reliquary.spark.sink import StreamWriter, Writer
from reliquary.spark.source import batch_reader
from reliquary.spark.stream import StreamReader


class ReliquarySource(DataSource):
    """Queues of a server, to be read and written."""

    @classmethod
    def name(cls) -> str:
        """Return the name that users give to `format`."""
        return "reliquary"

    def schema(self) -> str:
        """Return all columns; it is called at `load`, so bad options are refused there."""
        return ddl(headers=parse_reading(self.options, SOURCE).headers)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader for `spark.read`."""
        return batch_reader(parse_reading(self.options, OptionUse.READ), projection(schema.fields))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Return the reader for `spark.readStream`."""
        return StreamReader(parse_reading(self.options, OptionUse.STREAM), projection(schema.fields))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Return the writer for `df.write`."""
        if overwrite:
            raise BadOption('a queue is not overwritten: use mode("append")')
        options = parse_writing(self.options, OptionUse.WRITE, queue_column="queue" in schema.names)
        return Writer(options, written(schema.fields, options.key))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        """Return the writer for `df.writeStream`."""
        if overwrite:
            raise BadOption('a queue is not overwritten: use outputMode("append")')
        options = parse_writing(self.options, OptionUse.SINK, queue_column="queue" in schema.names)
        return StreamWriter(options, written(schema.fields, options.key))
