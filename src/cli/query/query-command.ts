import { existsSync, readFileSync } from 'node:fs'
import { Option } from 'commander'
import type { Command } from 'commander'
import { readRegistry } from '../../catalog.js'
import { badRequest } from '../../errors.js'
import { baseUrl } from '../../service/first-questions.js'
import { quoted } from '../../text.js'
import { addCommand, collect, readSettings } from '../command.js'
import type { CliParts } from '../parts.js'
import { progressReport } from '../progress-bar.js'
import { readServedDataset } from './query-client.js'
import type { QueryTarget } from './query-client.js'
import { rowFormat } from './query-output.js'
import type { ServedColumns } from './query-output.js'
import { printTable, writeRows } from './query-print.js'
import { groupNames, readRequest } from './query-request.js'
import type { QueryRequest, RequestFlags } from './query-request.js'
import { readAnswer, readExport, readPages } from './query-rows.js'
import type { Batch } from './query-rows.js'

const formats = ['table', 'csv', 'ndjson', 'json'] as const

type Format = (typeof formats)[number]

type QueryFlags = RequestFlags & {
  readonly format?: Format
  readonly output?: string
  readonly server?: string
  readonly tokenFile?: string
}

/** A table keeps its rows in memory. */
const tableRowsMax = 10_000

/** `das query`: asks a running server for rows or for groups of rows. */
export function addQuery(program: Command, parts: CliParts): void {
  addCommand(program, {
    usage: 'query <dataset> [filters...]',
    description:
      'Ask a running server for rows, or with --measures for groups of rows. A filter is ' +
      'written as in its URLs, COLUMN=OPERATOR.VALUE, ' +
      'but without percent-encoding. The token comes from --token-file or DAS_TOKEN, else it is ' +
      'the demo token of the registry.',
    options: (command) =>
      command
        .option('--select <columns>', 'return these columns, in this order: inn,year,2110')
        .option('--limit <rows>', 'return at most this many rows or groups (default: one page)')
        .option('--cursor <cursor>', 'continue after the page that returned this cursor')
        .option('--export', 'return all rows; reconnect when the connection breaks')
        .option('--top <column>', 'return the first rows by this column; -2400: the largest first')
        .option('--measures <list>', 'return groups with these values: count,revenue:sum(2110)')
        .option('--group <list>', 'group the rows by these: year,prefix(okved,2) (default: all)')
        .option('--having <condition>', 'only these groups: count.gte.10 (repeatable)', collect)
        .option('--order <list>', 'order of the groups: -revenue,year (default: as --group)')
        .option('--labels [language]', 'add the names of the codes in --group; ru: in Russian')
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
      "das query financials --group year --measures 'count,revenue:sum(2110)' --order -revenue",
      'das query financials year=eq.2024 --top -2400 --limit 10 --select inn,name,2400',
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
  const request = readRequest(filters, flags)
  const format = formatOf(parts, flags, request.rowsMax)
  const place = await placeOf(parts, flags)
  await parts.untilInterrupted(async (signal) => {
    const answer = await openAnswer({ ...place, dataset, signal }, request, flags)
    const { columns, names } = answer
    const reported = withProgress(parts, flags, answer)
    if (format === 'table') await printTable(parts, names, columns, reported)
    else await writeRows(parts, flags.output, rowFormat(format, names, columns), reported)
  })
}

interface Answer {
  readonly columns: ServedColumns
  /** The header of an answer without rows. */
  readonly names: readonly string[]
  readonly batches: AsyncIterable<Batch>
  /** All rows of the answer; null if unknown. */
  readonly rowsExpected: number | null
}

async function openAnswer(
  target: QueryTarget,
  request: QueryRequest,
  flags: QueryFlags,
): Promise<Answer> {
  const { kind, parameters, rowsMax } = request
  if (kind === 'groups') {
    const served = flags.labels === undefined ? [] : (await readServedDataset(target)).columns
    const labelled = served.filter(({ labels }) => labels).map(({ name }) => name)
    const batches = readAnswer(target, '/aggregate', parameters, rowsMax)
    return { columns: null, names: groupNames(flags, labelled), batches, rowsExpected: null }
  }
  const { columns, rows, limit } = await readServedDataset(target)
  const names = request.names ?? columns.map(({ name }) => name)
  const head = { columns, names, rowsExpected: null }
  if (kind === 'top') return { ...head, batches: readAnswer(target, '/top', parameters, rowsMax) }
  const cursor = flags.cursor ?? null
  if (!flags.export) {
    const batches = readPages(target, parameters, { cursor, rowsMax, pageMax: limit.max })
    return { ...head, batches }
  }
  const isWhole = cursor === null && parameters.every(([name]) => name === 'select')
  const batches = readExport(target, parameters, cursor)
  return { ...head, batches, rowsExpected: isWhole ? rows : null }
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

/** The server and the token. A token is never an argument: other users can read those. */
async function placeOf(
  parts: CliParts,
  flags: QueryFlags,
): Promise<Omit<QueryTarget, 'dataset' | 'signal'>> {
  const { environment, clock } = parts
  const config = readSettings(['host', 'port', 'registry'], flags, environment)
  const given = flags.server ?? environment['DAS_SERVER']
  if (given !== undefined && !/^https?:\/\//.test(given)) {
    throw badRequest(
      `--server must be an address, such as https://data.example.org, got ${quoted(given)}.`,
    )
  }
  const base = given?.replace(/\/+$/, '') ?? baseUrl({ ...config, publicUrl: null })
  const token = flags.tokenFile === undefined ? environment['DAS_TOKEN'] : fileText(flags.tokenFile)
  if (token !== undefined && /^[!-~]+$/.test(token)) return { base, token, clock }
  if (token !== undefined) {
    throw badRequest('The token must be one word that begins with das_live_ or das_demo_.')
  }
  const registry = existsSync(config.registry) ? await readRegistry(config.registry) : null
  if (registry?.demo) return { base, token: registry.demo.token, clock }
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
  { batches, rowsExpected: rows }: Answer,
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
