"""Writes a Parquet file with a column of every type that pyarrow has: `every_type.py PATH`."""

import datetime
import sys
import uuid
from decimal import Decimal

import numpy
import pyarrow
import pyarrow.parquet

NAN, INFINITY = float("nan"), float("inf")
NINES = "9" * 38


def integers(kind, low, high):
    return {kind: pyarrow.array([low, high, None], pyarrow.type_for_alias(kind))}


def decimal(precision, scale, *texts):
    values = [Decimal(text) for text in texts]
    return pyarrow.array([*values, None], pyarrow.decimal128(precision, scale))


def moments(unit):
    """With a zone, nanoseconds are whole microseconds: DuckDB reads no more of them."""
    second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    odd = [-1, 1704164645 * second + 1, None]
    even = [-1000, 1704164645 * second + 1000, None] if unit == "ns" else odd
    return {
        f"timestamp_{unit}": pyarrow.array(odd, pyarrow.timestamp(unit)),
        f"timestamp_{unit}_zone": pyarrow.array(even, pyarrow.timestamp(unit, "Europe/Moscow")),
    }


def columns():
    for bits in (8, 16, 32, 64):
        yield integers(f"int{bits}", -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        yield integers(f"uint{bits}", 0, 2**bits - 1)
    for unit in ("s", "ms", "us", "ns"):
        yield moments(unit)
    texts = ["", 'Ёлка \0 🦆 "', None]
    uuids = [uuid.UUID(int=1).bytes, uuid.UUID(int=2**128 - 1).bytes, None]
    days = [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]
    decimals = pyarrow.list_(pyarrow.decimal128(10, 2))
    structs = [{"a": 2**64 - 1, "b": [Decimal("1.50"), None]}, {"a": None, "b": None}, None]
    halves = [numpy.float16(1.5), numpy.float16("nan"), None]
    yield {
        "float16": pyarrow.array(halves, pyarrow.float16()),
        "float32": pyarrow.array([NAN, -INFINITY, None], pyarrow.float32()),
        "float64": pyarrow.array([INFINITY, -0.0, None], pyarrow.float64()),
        "decimal_5_2": decimal(5, 2, "-999.99", "0.01"),
        "decimal_38_0": decimal(38, 0, NINES, f"-{NINES}"),
        "decimal_38_38": decimal(38, 38, f"0.{NINES}", f"-0.{'1'.zfill(38)}"),
        "date32": pyarrow.array(days, pyarrow.date32()),
        "time_ms": pyarrow.array([0, 86399999, None], pyarrow.time32("ms")),
        "time_us": pyarrow.array([1, 86399999999, None], pyarrow.time64("us")),
        "time_ns": pyarrow.array([1, 86399999999999, None], pyarrow.time64("ns")),
        "string": pyarrow.array(texts),
        "large_string": pyarrow.array(texts, pyarrow.large_string()),
        "dictionary": pyarrow.array(texts).dictionary_encode(),
        "binary": pyarrow.array([b"\0\xff", b"", None]),
        "fixed_binary": pyarrow.array([b"abc", b"\0\0\0", None], pyarrow.binary(3)),
        "bool": pyarrow.array([True, False, None]),
        "list": pyarrow.array([[1, None], [], None], pyarrow.list_(pyarrow.int64())),
        "nested_list": pyarrow.array([[[NAN], [], None], [], None]),
        "nested_zone": pyarrow.array(
            [{"at": [1704164645123456000]}, {"at": None}, None],
            pyarrow.struct({"at": pyarrow.list_(pyarrow.timestamp("ns", "UTC"))}),
        ),
        "struct": pyarrow.array(structs, pyarrow.struct({"a": pyarrow.uint64(), "b": decimals})),
        "map": pyarrow.array(
            [[("k", INFINITY), ("", None)], [], None],
            pyarrow.map_(pyarrow.string(), pyarrow.float64()),
        ),
        "uuid": pyarrow.array(uuids, pyarrow.uuid()),
        "json": pyarrow.array(['{"a": 1.10}', "[]", None], pyarrow.json_()),
        "null": pyarrow.nulls(3),
    }


cells = {name: array for each in columns() for name, array in each.items()}
pyarrow.parquet.write_table(pyarrow.table(cells), sys.argv[1])
