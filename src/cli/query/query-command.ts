import { existsSync, readFileSync } from 'node:fs'
import { Option } from 'commander'
import type { Command } from 'commander'
import { readRegistry } from '../../catalog.js'
import { badRequest } from '../../errors.js'
import { plainText } from '../../plain-text.js'
import { parseList } from '../../query/parse-list.js'
import { textsOf } from '../../query/row-texts.js'
import type { RowTexts } from '../../query/row-texts.js'
import { reservedNames } from '../../registry/column-names.js'
import { baseUrl } from '../../service/first-questions.js'
import { quoted } from '../../text.js'
import { addCommand, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { progressReport } from '../progress-bar.js'
import { readServedDataset } from './query-client.js'
import type { ServedDataset, QueryTarget } from './query-client.js'
import { fileSink, outputSink, requireSame, writingOf } from './query-output.js'
import { readExport, readPages } from './query-rows.js'
import type { Batch } from './query-rows.js'
import { queryTable } from './query-table.js'
import { titlesOf } from './row-cells.js'

const formats = ['table', 'csv', 'ndjson', 'json'] as const

type Format = (typeof formats)[number]

type QueryFlags = Flags & {
  readonly select?: string
  readonly limit?: string
  readonly cursor?: string
  readonly export?: boolean
  readonly format?: Format
  readonly output?: string
  readonly server?: string
  readonly tokenFile?: string
}

/** The rows of a table stay in memory. */
const tableRowsMax = 10_000

/** `das query`: rows of a running server, for people and for pipes. */
export function addQuery(program: Command, parts: CliParts): void {
  addCommand(program, {
    usage: 'query <dataset> [filters...]',
    description:
      'Ask a running server for rows, in the grammar of its URLs: COLUMN=OPERATOR.VALUE, with ' +
      'nothing percent-encoded. The token is in DAS_TOKEN or --token-file; without either it is ' +
      'the demo token of the registry.',
    options: (command) =>
      command
        .option('--select <columns>', 'these columns, in this order: inn,year,2110')
        .option('--limit <rows>', 'so many rows; the usual page of the dataset when not given')
        .option('--cursor <cursor>', 'go on where another answer ended')
        .option('--export', 'all rows; a connection that breaks is taken up again')
        .addOption(
          new Option(
            '--format <format>',
            'how rows are written; a table on a terminal, and csv elsewhere',
          ).choices(formats),
        )
        .option('-o, --output <file>', 'write into this file, which appears when it is whole')
        .option('--server <url>', 'the server (DAS_SERVER; from host and port when not given)')
        .option('--token-file <file>', 'the file that holds the token, before DAS_TOKEN'),
    settings: ['host', 'port', 'registry'],
    json: 'print the rows as a JSON array: --format json',
    examples: [
      "das query financials 'inn=eq.7708004767' 'year=gte.2020' --select inn,year,2110",
      'DAS_TOKEN=$(cat token) das query financials year=eq.2023 --export -o 2023.csv',
      'das query procurement --limit 5000 --format ndjson --server https://data.example.org | jq .price',
    ],
  }).action((dataset: string, filters: readonly string[], flags: QueryFlags) =>
    query(parts, dataset, filters, flags),
  )
}

async function query(
  parts: CliParts,
  dataset: string,
  filters: readonly string[],
  flags: QueryFlags,
): Promise<void> {
  const rowsMax = readLimit(flags)
  const format = formatOf(parts, flags, rowsMax)
  const select = flags.select === undefined ? null : parseList(flags.select, '--select')
  const parameters = [
    ...filters.map(readFilter),
    ...(flags.select === undefined ? [] : [['select', flags.select] as const]),
  ]
  const place = await placeOf(parts, flags)
  await parts.untilInterrupted(async (signal) => {
    const target: QueryTarget = { ...place, dataset, signal }
    const facts = await readServedDataset(target)
    const cursor = flags.cursor ?? null
    const batches = flags.export
      ? readExport(target, parameters, cursor)
      : readPages(target, parameters, { cursor, rowsMax, pageMax: facts.limit.max })
    const columns = select ?? facts.columns.map(({ name }) => name)
    const isWhole = filters.length === 0 && cursor === null
    const rowsExpected = flags.export && isWhole ? facts.rows : null
    const told = withProgress(parts, flags, batches, rowsExpected)
    if (format === 'table') await printTable(parts, columns, facts, told)
    else await writeRows(parts, flags, writingOf(format, columns, facts), told)
  })
}

function readLimit({ limit, export: isExport }: QueryFlags): number | null {
  if (limit === undefined) return null
  if (isExport) throw badRequest('--export is for all rows: take it without --limit.')
  if (/^[1-9]\d{0,14}$/.test(limit)) return Number(limit)
  throw badRequest(`--limit: ${quoted(limit)} is no number of rows, as 500.`)
}

/** @throws bad_request for two formats, or a table of what may not fit in memory */
function formatOf({ stdout }: CliParts, flags: QueryFlags, rowsMax: number | null): Format {
  const { json, output } = flags
  if (json && flags.format !== undefined) throw badRequest('Take --json or --format, not both.')
  const given = json ? 'json' : flags.format
  const isTableLike = stdout.isTTY && output === undefined && !flags.export
  const isSmall = (rowsMax ?? 0) <= tableRowsMax
  const format = given ?? (isTableLike && isSmall ? 'table' : 'csv')
  if (format === 'table' && (flags.export || output !== undefined || !isSmall)) {
    throw badRequest(`A table is for the screen, of ${tableRowsMax} rows at most: take csv.`)
  }
  return format
}

/** @throws bad_request for what is no filter */
function readFilter(text: string): readonly [string, string] {
  const end = text.indexOf('=')
  const name = text.slice(0, end)
  if (end < 1) {
    throw badRequest(`${quoted(text)} is no filter: write COLUMN=OPERATOR.VALUE, as year=eq.2024.`)
  }
  if (!reservedNames.includes(name)) return [name, text.slice(end + 1)]
  throw badRequest(`${quoted(name)} is an option here: --${name}.`)
}

/** The server and the token, which is never on the command line: other users can read it. */
async function placeOf(
  parts: CliParts,
  flags: QueryFlags,
): Promise<Omit<QueryTarget, 'dataset' | 'signal'>> {
  const { environment } = parts
  const config = readSettings(['host', 'port', 'registry'], flags, environment)
  const given = flags.server ?? environment['DAS_SERVER']
  if (given !== undefined && !/^https?:\/\//.test(given)) {
    throw badRequest(`--server: ${quoted(given)} is no address, as https://data.example.org.`)
  }
  const base = given?.replace(/\/+$/, '') ?? baseUrl({ ...config, publicUrl: null })
  const token = flags.tokenFile === undefined ? environment['DAS_TOKEN'] : fileText(flags.tokenFile)
  if (token !== undefined && /^[!-~]+$/.test(token)) return { base, token }
  if (token !== undefined) throw badRequest('The token is one word, as das_live_….')
  const registry = existsSync(config.registry) ? await readRegistry(config.registry) : null
  if (registry?.demo) return { base, token: registry.demo.token }
  throw badRequest('A token is needed, in DAS_TOKEN or in the file of --token-file.')
}

function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw badRequest(`--token-file: ${(cause as Error).message}`)
  }
}

/** Shows on a terminal how far it has come, and ends where nobody reads what is printed. */
async function* withProgress(
  parts: CliParts,
  flags: QueryFlags,
  batches: AsyncIterable<Batch>,
  rows: number | null,
): AsyncGenerator<Batch> {
  const isPrinted = parts.stdout.isTTY && flags.output === undefined
  const progress = progressReport(parts, isPrinted || !parts.stderr.isTTY)
  let rowsDone = 0
  try {
    for await (const batch of batches) {
      rowsDone += batch.rows.length
      progress.report({ what: 'rows', rowsDone, rows })
      yield batch
      if (parts.stdout.writable === false) return
    }
  } finally {
    progress.end()
  }
}

/** What came is shown, also where the rest does not come: it is paid for. */
async function printTable(
  { stdout, stderr }: CliParts,
  names: readonly string[],
  { columns }: ServedDataset,
  batches: AsyncIterable<Batch>,
): Promise<void> {
  const types = new Map(columns.map(({ name, type }) => [name, type]))
  const rows: RowTexts[] = []
  let cursor: string | null = null
  const show = () => {
    const titles = rows[0] ? titlesOf(rows[0]) : names
    const shown = titles.map((name) => ({ name, type: types.get(name) ?? 'string' }))
    const cells = rows.map((row) => row.cells)
    const { lines, leftOut } = queryTable(shown, cells, stdout.columns ?? null)
    stdout.write(`${lines.join('\n')}\n`)
    if (leftOut.length > 0) {
      stderr.write(
        `note: no room for ${leftOut.length} columns: ${leftOut.map(plainText).join(', ')}\n`,
      )
    }
    if (cursor !== null) stderr.write(nextText(cursor))
  }
  try {
    for await (const batch of batches) {
      const texts = batch.rows.map(textsOf)
      for (const row of texts) requireSame((rows[0] ?? row).names, row.names)
      rows.push(...texts)
      cursor = batch.cursor
    }
  } catch (cause) {
    if (rows.length > 0) show()
    throw cause
  }
  show()
}

async function writeRows(
  parts: CliParts,
  { output }: QueryFlags,
  writing: ReturnType<typeof writingOf>,
  batches: AsyncIterable<Batch>,
): Promise<void> {
  const sink = output === undefined ? outputSink(parts) : await fileSink(output)
  let cursor: string | null = null
  try {
    for await (const batch of batches) {
      await sink.write(writing.rows(batch.rows))
      cursor = batch.cursor
    }
    await sink.write(writing.end())
    await sink.finish()
  } catch (cause) {
    const left = await sink.abandon()
    if (left) parts.stderr.write(`note: ${left} holds the rows that came.\n`)
    if (cursor !== null) parts.stderr.write(nextText(cursor))
    throw cause
  }
  if (cursor !== null) parts.stderr.write(nextText(cursor))
}

function nextText(cursor: string): string {
  return `note: more rows follow: --cursor ${plainText(cursor)}\n`
}
