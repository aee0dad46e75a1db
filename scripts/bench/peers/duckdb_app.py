"""What a user would write to serve Parquet files: FastAPI over DuckDB, which writes the JSON of each row.

    BENCH_FILES=/data/yearly uvicorn duckdb_app:app
"""

import os

import duckdb
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import Response

OPERATORS = {"eq": "=", "ne": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
LIMIT_MAX = 10000

database = duckdb.connect()
database.execute("SET parquet_metadata_cache = true")
database.execute(f"CREATE VIEW financials AS SELECT * FROM read_parquet('{os.environ['BENCH_FILES']}/*.parquet')")
TYPES = {column: kind for column, kind, *_ in database.execute("DESCRIBE financials").fetchall()}

app = FastAPI()


def quoted(column):
    if column not in TYPES:
        raise HTTPException(400, f"unknown column {column}")
    return f'"{column}"'


def typed(column, text):
    try:
        return int(text) if TYPES[column].endswith(("INT", "INTEGER")) else text
    except ValueError:
        raise HTTPException(400, f"{column} is a number") from None


def answer(sql, values):
    found = database.cursor().execute(f"SELECT to_json(t) FROM ({sql}) t", values).fetchall()
    return Response(f'{{"data":[{",".join(row for row, in found)}]}}', media_type="application/json")


@app.get("/financials")
def rows(request: Request):
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
                where.append(f"{name} {OPERATORS[operator]} ?")
                values.append(typed(key, text))
            elif operator == "like":
                where.append(f"{name} LIKE ?")
                values.append(text.replace("*", "%"))
            elif operator == "in":
                items = text.split(",")
                where.append(f"{name} IN ({', '.join('?' for _ in items)})")
                values += [typed(key, item) for item in items]
            else:
                raise HTTPException(400, f"unknown operator {operator}")
    sql = f"SELECT {', '.join(map(quoted, columns))} FROM financials"
    if where:
        sql += " WHERE " + " AND ".join(where)
    return answer(f"{sql} LIMIT {limit} OFFSET {offset}", values)


@app.post("/sql")
async def sql(request: Request):
    return answer((await request.body()).decode(), [])
