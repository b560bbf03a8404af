"""Writes the history to files outside the store: rows become columns, columns become files.

It may import `queueing`, `wire` and `base`.  Begin with `export`.

columns   rows of the table `history` as one Arrow table; `rows_of` reads them from any disk
files     the Parquet files of these columns
folder    where they lie: names, ranges, retention; without Arrow, as the two above are not
verify    whether files have every event once
export    from one to the other, each event once
"""
