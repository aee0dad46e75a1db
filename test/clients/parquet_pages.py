"""Walks a dataset in Parquet and compares every cell with the source: `parquet_pages.py URL FILE…`.

The URL is that of the first page; the token comes from the environment. Prints the rows, the cells
and the types of the columns as JSON; ends with an error that names the first cell that differs.
"""

import io
import json
import os
import sys
import urllib.request

import pyarrow
import pyarrow.parquet

NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def fetch(url):
    request = urllib.request.Request(
        url,
        headers={
            "Authorization": f"Bearer {os.environ['DAS_TOKEN']}",
            "Accept": "application/vnd.apache.parquet",
        },
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.headers["Content-Type"] == "application/vnd.apache.parquet"
        return answer.read(), answer.headers["X-Next-Cursor"]


def walk(url):
    cursor = ""
    while cursor is not None:
        body, cursor = fetch(url + (f"&cursor={cursor}" if cursor else ""))
        yield pyarrow.parquet.read_table(io.BytesIO(body))


def exact(value):
    """Floats by all their bits but those of NaN, at every depth."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, dict):
        return {key: exact(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [exact(each) for each in value]
    return value


def values(column):
    """Moments in nanoseconds and whether they have a zone; everything else as Python has it."""
    kind = column.type
    if pyarrow.types.is_timestamp(kind) or pyarrow.types.is_time(kind):
        counts = column.cast(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64())
        zone = getattr(kind, "tz", None) is not None
        scale = NANOSECONDS[kind.unit]
        return [each if each is None else (each * scale, zone) for each in counts.to_pylist()]
    return [exact(value) for value in column.to_pylist()]


def cells(tables, name):
    """A column over all tables; null where one lacks it."""
    for table in tables:
        yield from values(table[name]) if name in table.column_names else [None] * table.num_rows


def compare(name, found_cells, stored_cells):
    for row, (found, stored) in enumerate(zip(found_cells, stored_cells, strict=True)):
        if found != stored:
            sys.exit(f"{name}, row {row}: {found!r} instead of {stored!r}")


pages = list(walk(sys.argv[1]))
schema = pages[0].schema
assert all(page.schema.equals(schema) for page in pages), "pages differ in their schemas"
sources = [pyarrow.parquet.read_table(path) for path in sys.argv[2:]]
rows = sum(source.num_rows for source in sources)
for name in schema.names:
    compare(name, cells(pages, name), cells(sources, name))
missing = {name for source in sources for name in source.column_names} - set(schema.names)
assert not missing, missing
types = {field.name: str(field.type) for field in schema}
print(json.dumps({"pages": len(pages), "rows": rows, "cells": rows * len(types), "types": types}))
