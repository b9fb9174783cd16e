"""A profile as a database: its tables for SQL, by DuckDB (an optional extra).

    frames     frame, kind, name, component, detail, file, line, positions, latency, generated,
               definition
    paths      path, parent, frame, instance; active: cycles; own: those in which it called nothing
    trees      tree, path
    runs       start, cycles, tree
    counters   track, name, metric, unit, path, start, end, value, label
    spans      path, start, end: the activations of every path
    meta       key, value

Only tables that a query names are made. Nothing outside the database can be read or written.
"""

from __future__ import annotations

import re
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cyclescope._address_space import require_space
from cyclescope._files import scratch
from cyclescope._native import TableWriter
from cyclescope.errors import InputError, ToolError
from cyclescope.model import (
    TableColumn,
    active_cycles,
    flat_weights,
    in_memory,
    spans,
    table_parts,
    text_column,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from cyclescope.model import Ints, Profile, TablePart

__all__ = ["QUERY_TABLES", "Answer", "query", "query_parquet"]

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a query: names of columns, and rows of plain values."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def frame(self) -> pl.DataFrame:
        """The answer as a Polars frame."""
        from cyclescope._polars import pl

        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.columns)
        return pl.DataFrame(
            {name: list(values) for name, values in zip(self.columns, columns, strict=True)},
            strict=False,
        )


def query(profile: Profile, sql: str) -> Answer:
    """Ask a profile a question in SQL (DuckDB's dialect).

    Args:
        profile: whom to ask.
        sql: the question; the tables are those of this module's head.

    Raises:
        InputError: DuckDB does not take the question; its reason, in one line.
        ToolError: DuckDB is not installed.
    """
    with _database(profile, sql) as database:
        return database.ask(sql)


def query_parquet(profile: Profile, sql: str) -> bytes:
    """The answer as a Parquet file, with the types that DuckDB gives it.

    Raises:
        InputError, ToolError: as `query`.
    """
    with _database(profile, sql) as database:
        return database.parquet(sql)


def _frames(profile: Profile) -> Iterator[TablePart]:
    first = [next(iter(frame.positions), None) for frame in profile.catalog]
    lines = np.array([-1 if place is None else place.line for place in first], dtype=np.int64)
    more = [
        text_column("file", [None if place is None else place.file for place in first]),
        TableColumn("line", "optional", lines),
    ]
    return ([*part, *more] for part in table_parts(profile, "frames"))


def _paths(profile: Profile) -> Iterator[TablePart]:
    more = [
        text_column("instance", profile.instances),
        TableColumn("active", "whole", _whole(active_cycles(profile))),
        TableColumn("own", "whole", _whole(flat_weights(profile))),
    ]
    return ([*part, *more] for part in table_parts(profile, "paths"))


def _whole(numbers: Sequence[int] | Ints) -> Ints:
    return np.ascontiguousarray(numbers, dtype=np.int64)


def _spans(profile: Profile) -> Iterator[TablePart]:
    found = spans(profile)
    columns = (("path", found.path), ("start", found.start), ("end", found.end))
    yield [TableColumn(name, "whole", _whole(numbers)) for name, numbers in columns]


def _meta(profile: Profile) -> Iterator[TablePart]:
    meta = profile.meta
    entries = {
        "source": meta.source,
        "title": meta.title,
        "cycles": str(profile.cycles),
        "complete": str(meta.complete).lower(),
        "stop_reason": meta.stop_reason,
        "period_ps": "" if meta.period_ps is None else str(meta.period_ps),
    }
    for part in ("tools", "inputs", "options"):
        entries |= {f"{part}.{key}": value for key, value in getattr(meta, part).items()}
    yield [text_column("key", list(entries)), text_column("value", list(entries.values()))]


_MAKERS: dict[str, Callable[[Profile], Iterator[TablePart]]] = {
    "frames": _frames,
    "paths": _paths,
    "trees": lambda profile: table_parts(profile, "trees"),
    "runs": lambda profile: table_parts(profile, "runs"),
    "counters": lambda profile: table_parts(profile, "counters"),
    "spans": _spans,
    "meta": _meta,
}

QUERY_TABLES = tuple(_MAKERS)
"""The tables that a query can name."""


class _Database:
    def __init__(self, connection: Any, folder: Path, error: type[Exception]) -> None:
        self._connection = connection
        self._folder = folder
        self._error = error

    def ask(self, sql: str) -> Answer:
        try:
            cursor = self._connection.execute(sql)
            described = cursor.description if cursor is not None else None
            columns = tuple(str(column[0]) for column in described or ())
            rows = cursor.fetchall() if columns else []
        except self._error as error:
            raise InputError(f"the query is not accepted: {_line(error)}") from None
        if not columns:
            raise InputError("the query is empty; write SELECT … FROM …")
        return Answer(columns, tuple(tuple(_plain(value) for value in row) for row in rows))

    def parquet(self, sql: str) -> bytes:
        file = self._folder / "answer.parquet"
        try:
            # The only file that DuckDB may write; see `allowed_directories`.
            self._connection.execute(f"COPY ({sql.rstrip().rstrip(';')}) TO '{file}'")
        except self._error as error:
            raise InputError(f"the query is not accepted: {_line(error)}") from None
        return file.read_bytes()


def _write(parts: Iterator[TablePart], file: Path) -> None:
    table = TableWriter()
    with file.open("wb") as stream:
        for part in parts:
            stream.write(table.add(part))
        stream.write(table.finish())


def _line(error: Exception) -> str:
    """The reason, without the picture of where in the text it is."""
    return " ".join(str(error).split("\nLINE ")[0].split())


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return str(value)


@contextmanager
def _database(profile: Profile, sql: str) -> Iterator[_Database]:
    """A database of the profile's tables, gone afterwards."""
    require_space("DuckDB, which answers queries,", 1536)  # with 1,200, it depends
    try:
        import duckdb
    except ImportError:
        raise ToolError(
            "queries need DuckDB, which is not installed: pip install 'cyclescope[query]'"
        ) from None
    if any(0xD800 <= ord(char) < 0xE000 for char in sql):
        raise InputError("the query is not accepted: it has characters that are not text")
    words = {word.lower() for word in _WORD.findall(sql)}
    with (
        scratch("query") as folder,
        closing(duckdb.connect(":memory:")) as connection,
    ):
        for table in words & _MAKERS.keys():
            file = folder / f"{table}.parquet"
            _write(in_memory(_MAKERS[table](profile)), file)
            # Table and folder have names of ours: nothing of the user's is in this text.
            connection.execute(
                f"CREATE TABLE {table} AS SELECT * FROM read_parquet('{file}')"  # noqa: S608
            )
        connection.execute(f"SET allowed_directories=['{folder}']")
        for setting in ("enable_external_access=false", "lock_configuration=true"):
            connection.execute(f"SET {setting}")
        yield _Database(connection, folder, duckdb.Error)
