import { curlCommand, mcpConfiguration } from '../service/client-texts.js'

export interface SnippetRequest {
  /** The service's address, without a slash at its end. */
  readonly baseUrl: string
  readonly dataset: string
  /** Encoded, without "?". */
  readonly query: string
  readonly token: string
}

/** A question as one tool asks it: text to paste. */
export interface Snippet {
  readonly id: string
  readonly title: string
  readonly text: string
}

/**
 * One page of a question for each tool, every value exactly as it is served. Any name, query and
 * token is safe to paste: they are quoted as the tool's language has it.
 *
 * This file runs in the browser as well: it imports nothing of Node's.
 */
export function snippetsOf(request: SnippetRequest): readonly Snippet[] {
  return [
    { id: 'curl', title: 'curl', text: curlCommand(urlOf(request), request.token) },
    { id: 'python', title: 'Python (pandas)', text: pythonText(request) },
    { id: 'r', title: 'R', text: rText(request) },
    { id: 'duckdb', title: 'DuckDB', text: duckdbText(request) },
    { id: 'javascript', title: 'JavaScript', text: javascriptText(request) },
    { id: 'power-query', title: 'Excel (Power Query)', text: powerQueryText(request) },
    { id: 'mcp', title: 'MCP', text: mcpText(request) },
  ]
}

function pythonText(request: SnippetRequest): string {
  return `import io, urllib.request

import pandas as pd  # pip install pandas pyarrow

request = urllib.request.Request(
    ${JSON.stringify(urlOf(request, 'parquet'))},
    headers={"Authorization": ${JSON.stringify(`Bearer ${request.token}`)}},
)
answer = urllib.request.urlopen(request)
# Parquet, so that every column has its own type and no digit is lost.
rows = pd.read_parquet(io.BytesIO(answer.read()), dtype_backend="pyarrow")
print(rows)
# The next page is the same address with &cursor= and this; after the last there is none.
next_cursor = answer.headers["X-Next-Cursor"]
`
}

function rText(request: SnippetRequest): string {
  return `page <- url(
  ${JSON.stringify(urlOf(request, 'csv'))},
  headers = c(Authorization = ${JSON.stringify(`Bearer ${request.token}`)})
)
# Text as it is served, so that no code loses a zero; as.numeric() makes numbers of a column.
rows <- read.csv(page, colClasses = "character", na.strings = "",
                 check.names = FALSE, encoding = "UTF-8")
# The next page is the same address with &cursor= and the answer's header X-Next-Cursor.
print(rows)
`
}

/** The scope keeps the token from all other servers. */
function duckdbText(request: SnippetRequest): string {
  return `CREATE OR REPLACE SECRET datasets (TYPE http, SCOPE ${sqlText(`${request.baseUrl}/`)},
  BEARER_TOKEN ${sqlText(request.token)});
FROM read_parquet(${sqlText(urlOf(request, 'parquet'))});
-- The next page is the same address with &cursor= and the answer's header X-Next-Cursor.
`
}

function javascriptText(request: SnippetRequest): string {
  return `const answer = await fetch(${JSON.stringify(urlOf(request))}, {
  headers: { Authorization: ${JSON.stringify(`Bearer ${request.token}`)} },
})
if (!answer.ok) throw new Error(await answer.text())
// JavaScript rounds numbers of more than 15 digits; with format=csv they are text.
const { data, next_cursor } = await answer.json()
console.log(data)
// The next page is the same address with &cursor= and next_cursor; it is null on the last.
`
}

/**
 * The address is in three parts: with one put together in the formula, the Power BI service refuses
 * to refresh.
 */
function powerQueryText(request: SnippetRequest): string {
  const { baseUrl, dataset, token } = request
  return `let
    Answer = Web.Contents(${mText(baseUrl)}, [
        RelativePath = ${mText(`v1/${encodeURIComponent(dataset)}`)},
        Query = [${mFields(parametersOf(request, 'csv'))}],
        Headers = [Authorization = ${mText(`Bearer ${token}`)}]
    ]),
    Cells = Csv.Document(Answer, [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv]),
    // Text as it is served, so that no code loses a zero: give number columns their type yourself.
    Rows = Table.PromoteHeaders(Cells, [PromoteAllScalars = true])
    // Asked for credentials, choose Anonymous: the token is in Headers.
    // The next page has one more field in Query, cursor, from the answer's header X-Next-Cursor.
in
    Rows
`
}

function mcpText({ baseUrl, token }: SnippetRequest): string {
  return JSON.stringify(mcpConfiguration(baseUrl, token), null, 2)
}

/** Its query is of letters, digits and `*-._,%+&=` only, which curl takes as they are. */
function urlOf(request: SnippetRequest, format?: 'csv' | 'parquet'): string {
  const path = `${request.baseUrl}/v1/${encodeURIComponent(request.dataset)}`
  const query = parametersOf(request, format).toString().replaceAll('%2C', ',')
  return query === '' ? path : `${path}?${query}`
}

function parametersOf({ query }: SnippetRequest, format?: 'csv' | 'parquet'): URLSearchParams {
  const parameters = new URLSearchParams(query)
  parameters.delete('format')
  if (format) parameters.set('format', format)
  return parameters
}

function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A text of M: a quote is doubled, and "#(" would begin an escape. */
function mText(text: string): string {
  return `"${text.replaceAll('#(', '#(#)(').replaceAll('"', '""')}"`
}

/** Fields of a record; a parameter that is there twice is a list, since a field can't be. */
function mFields(parameters: URLSearchParams): string {
  const names = [...new Set(parameters.keys())]
  const fields = names.map((name) => {
    const values = parameters.getAll(name).map(mText)
    return `#${mText(name)} = ${values.length === 1 ? values.join() : `{${values.join(', ')}}`}`
  })
  return fields.join(', ')
}
