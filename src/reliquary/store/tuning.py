"""Sets the options of RocksDB: bounded memory, a quick start, and rows that exist only for seconds.

Most messages are put and deleted while they are still in a memtable, and leave only a tombstone
when it is flushed; a backlog goes to the sorted files and comes back in key order.  The options
follow from that, and from one rule: nothing may grow with the depth of a queue.

    keys of a deep queue     |ddd...........................................ppp|
                              deletions of what was received    puts of what came

A memtable of a deep queue reaches over all of its keys, and so does its file.  Moved down as it is, it would
be merged with every file between its ends.  Because it reaches over more than `MERGED`, RocksDB cuts it: the
deletions go down alone, to the rows that they delete, and the puts are moved.  The first level is the one
that is merged as a whole, so it is small.
"""

from __future__ import annotations

from typing import Final

from rocksdict import BlockBasedOptions, Cache, ChecksumType, DBCompressionType, DBRecoveryMode, Options

_MIB: Final = 1024 * 1024

WRITE_BUFFERS: Final = 128 * _MIB  # all memtables of all tables together
WRITE_BUFFER: Final = 32 * _MIB  # one memtable, and so one file of level 0
BLOCK_CACHE: Final = 64 * _MIB  # index and filter blocks included
LOG_BYTES: Final = 128 * _MIB  # what a start after a crash has to replay at most
OPEN_FILES: Final = 512
LEVEL: Final = 16 * _MIB  # the size of the first level below the files of memtables
SORTED_FILE: Final = 8 * _MIB  # one file of a level; memtables that are moved down whole are larger
MERGED: Final = 64 * _MIB  # the size of the rows of deeper levels that one file may overlap


def strict() -> DBRecoveryMode:
    """Return the mode that opens only a log without a flaw, the usual case; `RocksDisk` checks a torn log
    first."""
    return DBRecoveryMode.absolute_consistency()


def up_to_the_tear() -> DBRecoveryMode:
    """Return the mode that keeps the batches before the first torn one and none after it, over all log files.

    RocksDB's "tolerate corrupted tail" is not enough: it drops the torn end of one log file and continues
    with the next file, so that a batch could be kept without the batches before it.
    """
    return DBRecoveryMode.point_in_time()


def database(recovery: DBRecoveryMode, *, create: bool = False) -> Options:
    """Return the options of the whole database."""
    options = table(Cache(8 * _MIB))  # the default table is never used
    options.create_if_missing(create)
    options.create_missing_column_families(True)
    options.set_wal_recovery_mode(recovery)
    options.set_paranoid_checks(True)
    options.set_db_write_buffer_size(WRITE_BUFFERS)
    options.set_max_total_wal_size(LOG_BYTES)
    options.set_max_background_jobs(2)
    options.set_bytes_per_sync(
        _MIB
    )  # files are written in small parts, which shortens the wait of a log sync
    _open_quickly(options)
    _keep_little_talk(options)
    return options


def table(cache: Cache) -> Options:
    """Return the options of one table; all tables share the cache."""
    options = Options(raw_mode=True)
    options.set_write_buffer_size(WRITE_BUFFER)
    options.set_max_write_buffer_number(4)
    options.set_target_file_size_base(SORTED_FILE)
    options.set_max_bytes_for_level_base(LEVEL)
    options.set_max_compaction_bytes(MERGED)
    options.set_level_compaction_dynamic_level_bytes(True)
    options.set_compression_type(DBCompressionType.lz4())
    # A file that has mostly tombstones is rewritten soon, and not only when its level is full.
    options.add_compact_on_deletion_collector_factory(1024, 512, 0.5)
    options.set_block_based_table_factory(_blocks(cache))
    return options


def _blocks(cache: Cache) -> BlockBasedOptions:
    blocks = BlockBasedOptions()
    blocks.set_block_cache(cache)
    blocks.set_block_size(16 * 1024)
    blocks.set_checksum_type(ChecksumType.xxh3())
    blocks.set_bloom_filter(10, False)
    blocks.set_cache_index_and_filter_blocks(True)  # otherwise they stay in memory, a part of every row
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(True)
    return blocks


def _open_quickly(options: Options) -> None:
    options.set_max_open_files(OPEN_FILES)  # -1 would open every file at the start
    options.set_skip_stats_update_on_db_open(True)


def _keep_little_talk(options: Options) -> None:
    options.set_keep_log_file_num(4)
    options.set_max_log_file_size(4 * _MIB)
    options.set_stats_dump_period_sec(0)
    options.set_stats_persist_period_sec(0)
