import { curlCommand, mcpConfiguration } from '../service/client-texts.js'

export interface SnippetRequest {
  /** The service's address, without a trailing slash. */
  readonly baseUrl: string
  readonly dataset: string
  /** What is asked for: pages of rows, or one answer of groups. */
  readonly kind: 'rows' | 'aggregate'
  /** Encoded, without "?". */
  readonly query: string
  readonly token: string
}

/** Code that runs a question in one tool. */
export interface Snippet {
  readonly id: string
  readonly title: string
  readonly text: string
}

/**
 * Code for each tool that reads one answer to a question without changing a value. Any name, query
 * and token is safe to paste, because it is quoted by the rules of the tool's language.
 *
 * This file also runs in the browser, so it imports nothing from Node.js.
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
# Parquet keeps the type of every column and every digit.
rows = pd.read_parquet(io.BytesIO(answer.read()), dtype_backend="pyarrow")
print(rows)
${ofPages(
  request,
  `# The next page is the same address with &cursor= and this; the last page has none.
next_cursor = answer.headers["X-Next-Cursor"]
`,
)}`
}

function rText(request: SnippetRequest): string {
  return `page <- url(
  ${JSON.stringify(urlOf(request, 'csv'))},
  headers = c(Authorization = ${JSON.stringify(`Bearer ${request.token}`)})
)
# Every column is text, so that codes keep leading zeros; as.numeric() converts a column.
rows <- read.csv(page, colClasses = "character", na.strings = "",
                 check.names = FALSE, encoding = "UTF-8")
${ofPages(
  request,
  "# The next page is the same address with &cursor= and the answer's header X-Next-Cursor.\n",
)}print(rows)
`
}

/** The scope ensures that DuckDB sends the token to no other server. */
function duckdbText(request: SnippetRequest): string {
  return `CREATE OR REPLACE SECRET datasets (TYPE http, SCOPE ${sqlText(`${request.baseUrl}/`)},
  BEARER_TOKEN ${sqlText(request.token)});
FROM read_parquet(${sqlText(urlOf(request, 'parquet'))});
${ofPages(
  request,
  "-- The next page is the same address with &cursor= and the answer's header X-Next-Cursor.\n",
)}`
}

function javascriptText(request: SnippetRequest): string {
  return `const answer = await fetch(${JSON.stringify(urlOf(request))}, {
  headers: { Authorization: ${JSON.stringify(`Bearer ${request.token}`)} },
})
if (!answer.ok) throw new Error(await answer.text())
// JavaScript rounds numbers of more than 15 digits; with format=csv they are text.
const { data${ofPages(request, ', next_cursor')} } = await answer.json()
console.log(data)
${ofPages(
  request,
  '// The next page is the same address with &cursor= and next_cursor; it is null on the last.\n',
)}`
}

/**
 * The address is in three parts, because the Power BI service refuses to refresh a query whose
 * address is computed.
 */
function powerQueryText(request: SnippetRequest): string {
  const { baseUrl, token } = request
  const header = "cursor, from the answer's header X-Next-Cursor."
  const nextPage = `\n    // The next page has one more field in Query, ${header}`
  return `let
    Answer = Web.Contents(${mText(baseUrl)}, [
        RelativePath = ${mText(pathOf(request))},
        Query = [${mFields(parametersOf(request, 'csv'))}],
        Headers = [Authorization = ${mText(`Bearer ${token}`)}]
    ]),
    Cells = Csv.Document(Answer, [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv]),
    // Every column is text, so that codes keep leading zeros. Set the types of numbers yourself.
    Rows = Table.PromoteHeaders(Cells, [PromoteAllScalars = true])
    // If you are asked for credentials, choose Anonymous: the token is in Headers.${ofPages(
      request,
      nextPage,
    )}
in
    Rows
`
}

function mcpText({ baseUrl, token }: SnippetRequest): string {
  return JSON.stringify(mcpConfiguration(baseUrl, token), null, 2)
}

/** A text about the next page; empty where an answer has no pages. */
function ofPages({ kind }: SnippetRequest, text: string): string {
  return kind === 'rows' ? text : ''
}

/** The path of a request, relative to the service's address. */
function pathOf({ dataset, kind }: Pick<SnippetRequest, 'dataset' | 'kind'>): string {
  return `v1/${encodeURIComponent(dataset)}${kind === 'rows' ? '' : '/aggregate'}`
}

/** The query has only letters, digits and `*-._,:/()%+&=`, which curl does not change. */
function urlOf(request: SnippetRequest, format?: 'csv' | 'parquet'): string {
  const path = `${request.baseUrl}/${pathOf(request)}`
  const query = parametersOf(request, format)
    .toString()
    .replace(/%(?:28|29|2C|2F|3A)/g, decodeURIComponent)
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

/** A text literal of M. Quotes are doubled, and "#(" is escaped because it starts an escape. */
function mText(text: string): string {
  return `"${text.replaceAll('#(', '#(#)(').replaceAll('"', '""')}"`
}

/** The fields of a record. A repeated parameter becomes a list, because field names are unique. */
function mFields(parameters: URLSearchParams): string {
  const names = [...new Set(parameters.keys())]
  const fields = names.map((name) => {
    const values = parameters.getAll(name).map(mText)
    return `#${mText(name)} = ${values.length === 1 ? values.join() : `{${values.join(', ')}}`}`
  })
  return fields.join(', ')
}
