import { curlCommand, mcpConfiguration } from '../service/client-texts.js'

export interface SnippetRequest {
  /** The service's address, without a trailing slash. */
  readonly baseUrl: string
  readonly dataset: string
  /** What is asked for: all rows, or one answer: the first by a column, or groups. */
  readonly kind: 'rows' | 'top' | 'aggregate'
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
 * Code for each tool that reads all rows of a question, as one export, or one other answer,
 * without changing a text. Any name, query and token is safe to paste, because it is quoted by the
 * rules of the tool's language.
 *
 * This file also runs in the browser, so it imports nothing from Node.js.
 */
export function snippetsOf(request: SnippetRequest): readonly Snippet[] {
  return [
    { id: 'curl', title: 'curl', text: curlCommand(answerUrl(request, 'csv'), request.token) },
    { id: 'python', title: 'Python (pandas)', text: pythonText(request) },
    { id: 'r', title: 'R', text: rText(request) },
    { id: 'duckdb', title: 'DuckDB', text: duckdbText(request) },
    { id: 'javascript', title: 'JavaScript', text: javascriptText(request) },
    { id: 'power-query', title: 'Excel (Power Query)', text: powerQueryText(request) },
    { id: 'mcp', title: 'MCP', text: mcpText(request) },
  ]
}

function pythonText(request: SnippetRequest): string {
  const header = JSON.stringify(`Bearer ${request.token}`)
  const isOfRows = request.kind === 'rows'
  return `import ${isOfRows ? 'json' : 'io'}, urllib.request

import pandas as pd  # pip install pandas${isOfRows ? '' : ' pyarrow'}

def ask(url):
    headers = {"Authorization": ${header}}
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers))

${isOfRows ? pythonRows(request) : pythonGroups(request)}print(rows)
`
}

function pythonRows(request: SnippetRequest): string {
  return `columns = json.load(ask(${JSON.stringify(`${datasetUrl(request)}/schema`)}))["columns"]
# Codes and dates are text; a column of numbers may have empty cells.
types = {"integer": "Int64", "number": "Float64", "boolean": "boolean"}
rows = pd.read_csv(ask(${JSON.stringify(answerUrl(request, 'csv'))}),
                   dtype={each["name"]: types.get(each["type"], "string") for each in columns},
                   keep_default_na=False, na_values=[""])
`
}

function pythonGroups(request: SnippetRequest): string {
  return `answer = ask(${JSON.stringify(answerUrl(request, 'parquet'))})
# Parquet keeps the type of every column and every digit.
rows = pd.read_parquet(io.BytesIO(answer.read()), dtype_backend="pyarrow")
`
}

function rText(request: SnippetRequest): string {
  return `answer <- url(
  ${JSON.stringify(answerUrl(request, 'csv'))},
  headers = c(Authorization = ${JSON.stringify(`Bearer ${request.token}`)})
)
# Every column is text, so that codes keep leading zeros; as.numeric() converts a column.
rows <- read.csv(answer, colClasses = "character", na.strings = "",
                 check.names = FALSE, encoding = "UTF-8")
print(rows)
`
}

/** The scope ensures that DuckDB sends the token to no other server. */
function duckdbText(request: SnippetRequest): string {
  return `CREATE OR REPLACE SECRET datasets (TYPE http, SCOPE ${sqlText(`${request.baseUrl}/`)},
  BEARER_TOKEN ${sqlText(request.token)});
-- Every column is text, so that codes keep leading zeros; CAST converts a column.
CREATE OR REPLACE TABLE answer AS FROM read_csv(${sqlText(answerUrl(request, 'csv'))},
  all_varchar = true, header = true, delim = ',', quote = '"', escape = '"');
FROM answer;
`
}

function javascriptText(request: SnippetRequest): string {
  return `const answer = await fetch(${JSON.stringify(answerUrl(request, 'ndjson'))}, {
  headers: { Authorization: ${JSON.stringify(`Bearer ${request.token}`)} },
})
if (!answer.ok) throw new Error(await answer.text())
const lines = (await answer.text()).trimEnd().split('\\n')
// JavaScript rounds numbers of more than 15 digits; with format=csv they are text.
${request.kind === 'rows' ? exportedRows : 'const rows = lines.map((line) => JSON.parse(line))\n'}\
console.log(rows)
`
}

const exportedRows = `\
// Lines that begin so are not rows: they say where to go on, and the last one that all rows came.
const isRow = (line) => !line.startsWith('{"cursor":')
if (!JSON.parse(lines.at(-1)).complete) throw new Error(lines.at(-1))
const rows = lines.filter(isRow).map((line) => JSON.parse(line))
`

/**
 * The address is in three parts, because the Power BI service refuses to refresh a query whose
 * address is computed.
 */
function powerQueryText(request: SnippetRequest): string {
  const { baseUrl, token } = request
  return `let
    Answer = Web.Contents(${mText(baseUrl)}, [
        RelativePath = ${mText(pathOf(request))},
        Query = [${mFields(parametersOf(request, 'csv'))}],
        Headers = [Authorization = ${mText(`Bearer ${token}`)}]
    ]),
    Cells = Csv.Document(Answer, [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv]),
    // Every column is text, so that codes keep leading zeros. Set the types of numbers yourself.
    Rows = Table.PromoteHeaders(Cells, [PromoteAllScalars = true])
    // If you are asked for credentials, choose Anonymous: the token is in Headers.
in
    Rows
`
}

function mcpText({ baseUrl, token }: SnippetRequest): string {
  return JSON.stringify(mcpConfiguration(baseUrl, token), null, 2)
}

/** The path of the answer, relative to the service's address. */
function pathOf({ dataset, kind }: SnippetRequest): string {
  return `v1/${encodeURIComponent(dataset)}/${kind === 'rows' ? 'export' : kind}`
}

function datasetUrl({ baseUrl, dataset }: SnippetRequest): string {
  return `${baseUrl}/v1/${encodeURIComponent(dataset)}`
}

type SnippetFormat = 'csv' | 'ndjson' | 'parquet'

/** The query has only letters, digits and `*-._,:/()%+&=`, which curl does not change. */
function answerUrl(request: SnippetRequest, format: SnippetFormat): string {
  const query = parametersOf(request, format).toString()
  const readable = query.replace(/%(?:28|29|2C|2F|3A)/g, decodeURIComponent)
  return `${request.baseUrl}/${pathOf(request)}?${readable}`
}

function parametersOf({ kind, query }: SnippetRequest, format: SnippetFormat): URLSearchParams {
  const parameters = new URLSearchParams(query)
  // An export has no pages.
  const others = kind === 'rows' ? ['limit', 'cursor'] : []
  for (const name of ['format', 'excel', ...others]) parameters.delete(name)
  parameters.set('format', format)
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
