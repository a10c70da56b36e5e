"""Parquet tables, turned into the CSV that everything else is read from."""

from __future__ import annotations

from pathlib import Path
from typing import IO

MARK = b"PAR1"
"""What a Parquet file begins with."""


class BrokenTableError(Exception):
    """A Parquet file cannot be read; the message says why."""


def write_as_csv(path: Path, target: IO[bytes]) -> tuple[str, ...]:
    """Write a Parquet file's rows as CSV.

    Args:
        path: The Parquet file.
        target: Where the CSV goes. Times carry the zone that the file gives them, and none when it gives none.

    Returns:
        Names of columns that were left out, for a cell of theirs holds more than one value.

    Raises:
        BrokenTableError: it cannot be read.
    """
    import polars as pl

    try:
        frame = pl.read_parquet(path)
        nested = tuple(name for name, dtype in frame.schema.items() if dtype.is_nested() or dtype == pl.Binary)
        frame = frame.drop(nested)
        texts = [
            pl.col(name).dt.strftime("%Y-%m-%dT%H:%M:%S%.f" + ("" if dtype.time_zone is None else "%:z"))
            for name, dtype in frame.schema.items()
            if isinstance(dtype, pl.Datetime)
        ]
        frame.with_columns(texts).write_csv(target)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BrokenTableError(str(error).split("\n", 1)[0]) from error
    return nested
