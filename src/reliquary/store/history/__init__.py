"""The history outside the store: rows become columns, columns become files.

columns   rows of the table `history` as one Arrow table; `rows_of` reads them from any disk
files     the folder of Parquet files: names, ranges, retention
export    from one to the other, each event once
"""
