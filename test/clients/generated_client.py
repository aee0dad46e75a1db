"""Asks the questions of generated.test.ts with the client that openapi-python-client generated."""

import json
import os
import sys

from das_client import AuthenticatedClient
from das_client.api.financials import (
    financials_aggregate,
    financials_aggregate_json,
    financials_query,
    financials_rows,
    financials_schema,
    financials_top,
)
from das_client.models import (
    FinancialsColumn,
    FinancialsQuestion,
    FinancialsRowsFormat,
    FinancialsRowsSelectItem,
    FinancialsSummary,
    FinancialsTopSelectItem,
)

client = AuthenticatedClient(base_url=sys.argv[1], token=os.environ["DAS_TOKEN"])


def columns(kind, *names):
    return [kind(name) for name in names]


def answer_of(operation, **question):
    """The answer as JSON, by way of the type that the client makes of it."""
    return operation.sync(client=client, **question).to_dict()


question = {
    "inn": ["eq.7708004767"],
    "year": ["gte.2020", "lte.2021"],
    "select": columns(FinancialsRowsSelectItem, "inn", "year", "2110"),
}
summary = {"group": ["year", "okfs"], "measures": ["count", "sum(2110)"]}
answers = [
    answer_of(financials_rows, **question),
    answer_of(financials_rows, inn=["in.0261012138,7708503727"], year=["eq.2021"]),
    answer_of(
        financials_rows,
        kpp=["is_null"],
        year=["eq.2021"],
        select=columns(FinancialsRowsSelectItem, "2110"),
    ),
    answer_of(
        financials_rows,
        name=["contains.аэрофлот"],
        select=columns(FinancialsRowsSelectItem, "name", "year"),
        limit=2,
    ),
    answer_of(
        financials_top,
        by="-2110",
        year=["eq.2024"],
        select=columns(FinancialsTopSelectItem, "inn", "2110"),
        limit=3,
    ),
    answer_of(financials_aggregate, **summary, year=["gte.2023", "lte.2024"]),
    answer_of(
        financials_aggregate,
        group=["prefix(okved,2)"],
        measures=["companies:distinct(inn)"],
        having=["companies.gte.2"],
        order=["-companies"],
        limit=2,
    ),
    answer_of(financials_schema),
]

walked = []
more = {}
while True:
    page = financials_rows.sync(
        client=client,
        inn=["eq.7708004767"],
        select=columns(FinancialsRowsSelectItem, "year"),
        limit=2,
        **more,
    )
    walked += [row.to_dict() for row in page.data]
    if page.next_cursor is None:
        break
    more = {"cursor": page.next_cursor}

posted = answer_of(
    financials_query,
    body=FinancialsQuestion.from_dict(
        {
            "filters": [
                {"column": "inn", "op": "eq", "value": "7708004767"},
                {"column": "year", "op": "in", "value": [2020, 2021]},
            ],
            "select": columns(FinancialsColumn, "inn", "year", "2110"),
        }
    ),
)
summed = answer_of(
    financials_aggregate_json,
    body=FinancialsSummary.from_dict(
        {**summary, "filters": [{"column": "year", "op": "in", "value": [2023, 2024]}]}
    ),
)

# The generated functions read JSON alone: for other formats, take their request.
request = financials_rows._get_kwargs(**question, format_=FinancialsRowsFormat.CSV)
csv = client.get_httpx_client().request(**request).text

print(
    json.dumps(
        {"answers": answers, "walked": walked, "posted": posted, "summed": summed, "csv": csv}
    )
)
