"""What a user would write to serve Parquet files: FastAPI over DuckDB, a view for each folder.

    DATASETS='{"yearly": "/data/yearly"}' uvicorn fastapi_server:app
"""

import json
import os

import duckdb
from fastapi import FastAPI, HTTPException, Query, Request, Response
from pydantic import BaseModel

database = duckdb.connect()
database.execute("SET parquet_metadata_cache = true")
known: dict[str, list[str]] = {}
for name, folder in json.loads(os.environ["DATASETS"]).items():
    database.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{folder}/*.parquet')")
    known[name] = [column[0] for column in database.execute(f"DESCRIBE {name}").fetchall()]

app = FastAPI()


class Companies(BaseModel):
    inns: list[str]
    select: list[str] = []


def rows(dataset: str, select: list[str], where: list[str], values: list, page: str) -> Response:
    if dataset not in known or not set(select) <= set(known[dataset]):
        raise HTTPException(404)
    columns = ", ".join(f'"{column}"' for column in select or known[dataset])
    conditions = f"WHERE {' AND '.join(where)}" if where else ""
    sql = f"SELECT to_json(t) FROM (SELECT {columns} FROM {dataset} {conditions} {page}) t"
    found = database.cursor().execute(sql, values).fetchall()
    return Response(f"[{','.join(row for row, in found)}]", media_type="application/json")


@app.get("/{dataset}")
def page(
    dataset: str,
    inn: str | None = None,
    year: int | None = None,
    okved: str | None = None,
    select: str = "",
    limit: int = Query(1000, le=1000),
    offset: int = 0,
) -> Response:
    filters = {"inn = ?": inn, "year = ?": year, "starts_with(okved, ?)": okved}
    where = {condition: value for condition, value in filters.items() if value is not None}
    names = [name for name in select.split(",") if name]
    place = f"LIMIT {limit} OFFSET {offset}"
    return rows(dataset, names, list(where), list(where.values()), place)


@app.post("/{dataset}/companies")
def companies(dataset: str, asked: Companies) -> Response:
    where = [f"inn IN ({', '.join('?' for _ in asked.inns)})"]
    return rows(dataset, asked.select, where, asked.inns, "LIMIT 1000")


@app.post("/sql")
async def sql(request: Request) -> Response:
    found = database.cursor().execute(f"SELECT to_json(t) FROM ({(await request.body()).decode()}) t")
    return Response(f"[{','.join(row for row, in found.fetchall())}]", media_type="application/json")
