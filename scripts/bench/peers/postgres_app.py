"""What a user would build instead: PostgreSQL with a primary key, FastAPI, asyncpg with prepared statements, orjson.

    BENCH_POSTGRES=postgresql://… uvicorn postgres_app:app
"""

import os
from contextlib import asynccontextmanager

import asyncpg
import orjson
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import Response

OPERATORS = {"eq": "=", "ne": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
LIMIT_MAX = 10000
TYPES = {}


@asynccontextmanager
async def lifespan(app):
    app.state.pool = await asyncpg.create_pool(os.environ["BENCH_POSTGRES"], min_size=4, max_size=16)
    for name, kind in await app.state.pool.fetch(
        "select column_name, data_type from information_schema.columns where table_name = 'financials' order by ordinal_position"
    ):
        TYPES[name] = kind
    yield
    await app.state.pool.close()


app = FastAPI(lifespan=lifespan)


def quoted(column):
    if column not in TYPES:
        raise HTTPException(400, f"unknown column {column}")
    return f'"{column}"'


def typed(column, text):
    try:
        return int(text) if TYPES[column] in ("integer", "bigint", "smallint") else text
    except ValueError:
        raise HTTPException(400, f"{column} is a number") from None


@app.get("/financials")
async def rows(request: Request):
    columns, limit, offset, where, values = list(TYPES), 100, 0, [], []
    for key, value in request.query_params.multi_items():
        if key == "select":
            columns = value.split(",")
        elif key == "limit":
            limit = min(int(value), LIMIT_MAX)
        elif key == "offset":
            offset = int(value)
        else:
            name = quoted(key)
            operator, _, text = value.partition(".")
            if operator in OPERATORS:
                values.append(typed(key, text))
                where.append(f"{name} {OPERATORS[operator]} ${len(values)}")
            elif operator == "like":
                values.append(text.replace("*", "%"))
                where.append(f"{name} like ${len(values)}")
            elif operator == "in":
                values.append([typed(key, item) for item in text.split(",")])
                where.append(f"{name} = any(${len(values)})")
            else:
                raise HTTPException(400, f"unknown operator {operator}")
    sql = f"select {', '.join(map(quoted, columns))} from financials"
    if where:
        sql += " where " + " and ".join(where)
    found = await request.app.state.pool.fetch(f"{sql} order by inn, year limit {limit} offset {offset}", *values)
    data = [dict(row) for row in found]
    return Response(orjson.dumps({"data": data}, default=float), media_type="application/json")
