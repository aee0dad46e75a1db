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
import { fittedTable } from '../table.js'
import { readServedDataset } from './query-client.js'
import type { ServedDataset, QueryTarget } from './query-client.js'
import {
  cellText,
  fileSink,
  outputSink,
  requireSameColumns,
  rowFormat,
  titlesOf,
} from './query-output.js'
import { readExport, readPages } from './query-rows.js'
import type { Batch } from './query-rows.js'

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

/** A table keeps its rows in memory. */
const tableRowsMax = 10_000

/** `das query`: asks a running server for rows. */
export function addQuery(program: Command, parts: CliParts): void {
  addCommand(program, {
    usage: 'query <dataset> [filters...]',
    description:
      'Ask a running server for rows. A filter is written as in its URLs, COLUMN=OPERATOR.VALUE, ' +
      'but without percent-encoding. The token comes from --token-file or DAS_TOKEN, else it is ' +
      'the demo token of the registry.',
    options: (command) =>
      command
        .option('--select <columns>', 'return these columns, in this order: inn,year,2110')
        .option('--limit <rows>', 'return at most this many rows (default: one page)')
        .option('--cursor <cursor>', 'continue after the page that returned this cursor')
        .option('--export', 'return all rows; reconnect when the connection breaks')
        .addOption(
          new Option(
            '--format <format>',
            'output format (default: table on a terminal, else csv)',
          ).choices(formats),
        )
        .option(
          '-o, --output <file>',
          'write to this file; it is FILE.part until all rows are there',
        )
        .option('--server <url>', 'address of the server (DAS_SERVER, default from host and port)')
        .option('--token-file <file>', 'file that holds the token (default: DAS_TOKEN)'),
    settings: ['host', 'port', 'registry'],
    json: 'print the rows as a JSON array, like --format json',
    examples: [
      "das query financials 'inn=eq.7708004767' 'year=gte.2020' --select inn,year,2110",
      'DAS_TOKEN=$(cat token) das query financials year=eq.2023 --export -o 2023.csv',
      'das query procurement --limit 5000 --format ndjson | jq .price',
      'das query financials inn=eq.7708004767 --server https://data.example.org',
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
    const served = await readServedDataset(target)
    const cursor = flags.cursor ?? null
    const batches = flags.export
      ? readExport(target, parameters, cursor)
      : readPages(target, parameters, { cursor, rowsMax, pageMax: served.limit.max })
    const columns = select ?? served.columns.map(({ name }) => name)
    const isWhole = filters.length === 0 && cursor === null
    const rowsExpected = flags.export && isWhole ? served.rows : null
    const reported = withProgress(parts, flags, batches, rowsExpected)
    if (format === 'table') await printTable(parts, columns, served, reported)
    else await writeRows(parts, flags, rowFormat(format, columns, served), reported)
  })
}

function readLimit({ limit, export: isExport }: QueryFlags): number | null {
  if (limit === undefined) return null
  if (isExport) throw badRequest('--export returns all rows. Leave out --export or --limit.')
  if (/^[1-9]\d{0,14}$/.test(limit)) return Number(limit)
  throw badRequest(`--limit must be a whole number of rows, such as 500, got ${quoted(limit)}.`)
}

/** @throws bad_request for two formats, or for a table of more rows than fit in memory */
function formatOf({ stdout }: CliParts, flags: QueryFlags, rowsMax: number | null): Format {
  const { json, output } = flags
  if (json && flags.format !== undefined) throw badRequest('Use --json or --format, not both.')
  const given = json ? 'json' : flags.format
  const isTableLike = stdout.isTTY && output === undefined && !flags.export
  const isSmall = (rowsMax ?? 0) <= tableRowsMax
  const format = given ?? (isTableLike && isSmall ? 'table' : 'csv')
  if (format === 'table' && (flags.export || output !== undefined || !isSmall)) {
    throw badRequest(
      `A table is for the screen and has at most ${tableRowsMax} rows. Use --format csv.`,
    )
  }
  return format
}

/** @throws bad_request for a text that is not a filter */
function readFilter(text: string): readonly [string, string] {
  const end = text.indexOf('=')
  const name = text.slice(0, end)
  if (end < 1) {
    throw badRequest(
      `${quoted(text)} is not a filter. Write COLUMN=OPERATOR.VALUE, such as year=eq.2024.`,
    )
  }
  if (!reservedNames.includes(name)) return [name, text.slice(end + 1)]
  throw badRequest(`${quoted(name)} is not a filter here. Use the option --${name}.`)
}

/** The server and the token. A token is never an argument: other users can read those. */
async function placeOf(
  parts: CliParts,
  flags: QueryFlags,
): Promise<Omit<QueryTarget, 'dataset' | 'signal'>> {
  const { environment } = parts
  const config = readSettings(['host', 'port', 'registry'], flags, environment)
  const given = flags.server ?? environment['DAS_SERVER']
  if (given !== undefined && !/^https?:\/\//.test(given)) {
    throw badRequest(
      `--server must be an address, such as https://data.example.org, got ${quoted(given)}.`,
    )
  }
  const base = given?.replace(/\/+$/, '') ?? baseUrl({ ...config, publicUrl: null })
  const token = flags.tokenFile === undefined ? environment['DAS_TOKEN'] : fileText(flags.tokenFile)
  if (token !== undefined && /^[!-~]+$/.test(token)) return { base, token }
  if (token !== undefined) {
    throw badRequest('The token must be one word that begins with das_live_ or das_demo_.')
  }
  const registry = existsSync(config.registry) ? await readRegistry(config.registry) : null
  if (registry?.demo) return { base, token: registry.demo.token }
  throw badRequest('There is no token. Set DAS_TOKEN, or name a file with --token-file.')
}

function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw badRequest(`--token-file: ${(cause as Error).message}`)
  }
}

/** Reports progress on a terminal; ends when the reader of stdout has gone. */
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

/** Also prints the rows before a failure, because they are paid for. */
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
    const shown = titles.map((name) => ({ name, isNumber: isNumber(types.get(name)) }))
    const cells = rows.map((row) => row.cells.map(cellText))
    const { lines, leftOut } = fittedTable(shown, cells, stdout.columns ?? null)
    stdout.write(`${lines.join('\n')}\n`)
    if (leftOut.length > 0) {
      const list = leftOut.map(plainText).join(', ')
      stderr.write(`note: ${leftOut.length} columns do not fit on the screen: ${list}\n`)
    }
    if (cursor !== null) stderr.write(nextText(cursor))
  }
  try {
    for await (const batch of batches) {
      const texts = batch.rows.map(textsOf)
      for (const row of texts) requireSameColumns((rows[0] ?? row).names, row.names)
      rows.push(...texts)
      cursor = batch.cursor
    }
  } catch (cause) {
    if (rows.length > 0) show()
    throw cause
  }
  show()
}

function isNumber(type: string | undefined): boolean {
  return type === 'integer' || type === 'number'
}

async function writeRows(
  parts: CliParts,
  { output }: QueryFlags,
  format: ReturnType<typeof rowFormat>,
  batches: AsyncIterable<Batch>,
): Promise<void> {
  const sink = output === undefined ? outputSink(parts) : await fileSink(output)
  let cursor: string | null = null
  try {
    for await (const batch of batches) {
      await sink.write(format.rows(batch.rows))
      cursor = batch.cursor
    }
    await sink.write(format.end())
    await sink.finish()
  } catch (cause) {
    const part = await sink.abandon()
    if (part) parts.stderr.write(`note: ${part} holds the rows that arrived.\n`)
    if (cursor !== null) parts.stderr.write(nextText(cursor))
    throw cause
  }
  if (cursor !== null) parts.stderr.write(nextText(cursor))
}

function nextText(cursor: string): string {
  return `note: there are more rows; continue with --cursor ${plainText(cursor)}\n`
}
