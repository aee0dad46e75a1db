import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { parseToken } from '../../control/tokens/token-format.js'
import { badRequest } from '../../errors.js'
import type { Filter } from '../../lists/ask-keys.js'
import { parseList } from '../../query/parse-list.js'
import { readParameters } from '../../query/parse-url.js'
import { parseUrl } from '../../setting-values.js'
import { addPrinted, collect } from '../command.js'
import type { Flags, Result } from '../command.js'
import type { CliParts } from '../parts.js'
import { askServer } from './ask-server.js'
import { enrichList } from './enrich-list.js'
import type { EnrichOrder } from './enrich-list.js'

interface EnrichFlags extends Flags {
  readonly dataset: string
  readonly key: string
  readonly column?: string
  readonly where?: readonly string[]
  readonly select?: readonly string[]
  readonly match: string
  readonly out?: string
  readonly dryRun?: true
  readonly exact?: true
  readonly addZeros?: true
  readonly replace?: true
  readonly encoding?: string
  readonly separator?: string
  readonly sheet?: string
  readonly server?: string
  readonly tokenFile?: string
}

/** `das enrich`: adds the columns of a dataset to a list of keys. */
export function addEnrich(program: Command, parts: CliParts): void {
  addPrinted(program, parts, {
    usage: 'enrich <file>',
    description:
      'Add columns of a dataset to a list of keys (.csv, .tsv or .xlsx), asked over REST. ' +
      'Lines, columns and order stay; keys that are not found cost nothing.',
    options: addOptions,
    settings: [],
    json:
      'print {out, lines, keys, found, not_found, malformed, restored, rows_charged, versions, ' +
      'notes}; of a dry run {lines, keys, malformed, zeros_lost, columns, requests, rows_max, ' +
      'rows_exact, rows_left, notes}',
    examples: [
      'das enrich clients.xlsx --dataset financials --key inn --column ИНН --dry-run',
      'das enrich clients.xlsx --dataset financials --key inn --column ИНН --select name,2110 ' +
        '-o clients-with-accounts.xlsx',
    ],
    run: (_config: object, flags: EnrichFlags, file: string): Promise<Result> =>
      parts.untilInterrupted((signal) => {
        const order = orderOf(file, flags)
        const ask = askServer(serverOf(flags, parts.environment), parts.clock, signal)
        return enrichList(parts, order, ask)
      }),
  })
}

function addOptions(command: Command): unknown {
  return command
    .requiredOption('--dataset <name>', 'the dataset')
    .requiredOption('--key <column>', 'its column that has the keys')
    .option('--column <name>', 'the column of the list that has them (default: the same name)')
    .option('--where <filter>', 'as in a URL, year=eq.2024; may be repeated', collect)
    .option('--select <columns>', 'columns to add, a,b,c (default: all)', collect)
    .option(
      '--match <rows>',
      'of each key: newest = the newest row by the history column; all = a line for each row; ' +
        'wide = a column for each value of the history column',
      'newest',
    )
    .option('-o, --out <file>', 'the new list, of the same format')
    .option('--replace', 'replace the file of --out')
    .option('--dry-run', 'only check the list and say what it can cost')
    .option('--exact', 'with --dry-run: count the rows, for one row for each 1,000 keys')
    .option('--add-zeros', 'put back zeros at the start of keys that a spreadsheet dropped')
    .option('--encoding <label>', 'encoding of a CSV list')
    .option('--separator <letter>', 'separator of a CSV list; "tab" for a tab')
    .option('--sheet <name>', 'sheet of a workbook (default: the first)')
    .option('--server <address>', 'address of the server (DAS_SERVER)')
    .option('--token-file <file>', 'file with the token (default: the variable DAS_TOKEN)')
}

function orderOf(file: string, flags: EnrichFlags): EnrichOrder {
  const { match, dryRun = false, exact = false, out = null, separator } = flags
  if (match !== 'newest' && match !== 'all' && match !== 'wide') {
    throw badRequest(`--match is newest, all or wide, got ${JSON.stringify(match)}.`)
  }
  if (exact && !dryRun) throw badRequest('--exact goes with --dry-run.')
  if (out === null && !dryRun) throw badRequest('Say with -o where to write the new list.')
  return {
    list: {
      file,
      encoding: flags.encoding ?? null,
      separator: separator === 'tab' ? '\t' : (separator ?? null),
      sheet: flags.sheet ?? null,
    },
    ...{ dataset: flags.dataset, key: flags.key, column: flags.column ?? flags.key, match },
    where: (flags.where ?? []).map(readFilter),
    select: flags.select?.flatMap((text) => parseList(text, '--select')) ?? null,
    ...{ out, isDry: dryRun, isExact: exact },
    addZeros: flags.addZeros ?? false,
    replaces: flags.replace ?? false,
  }
}

/** A filter as in a URL, not encoded. */
function readFilter(text: string): Filter {
  const [name = '', ...rest] = text.split('=')
  const query = [name, rest.join('=')].map(encodeURIComponent).join('=')
  const [filter] = readParameters(rest.length === 0 ? name : query, [], []).filters
  if (!filter) throw badRequest('--where takes a filter such as year=eq.2024.')
  const { column, operator: op, values, isList } = filter
  return { column, op, ...(values.length > 0 && { value: isList ? values : values[0] }) }
}

/**
 * The server and the token. A token is in no message.
 * @throws bad_request without them
 */
function serverOf({ server, tokenFile }: EnrichFlags, environment: CliParts['environment']) {
  const address = server ?? environment['DAS_SERVER']
  if (address === undefined) throw badRequest('Name the server with --server or DAS_SERVER.')
  const token = tokenFile === undefined ? environment['DAS_TOKEN'] : readToken(tokenFile)
  if (token === undefined) throw badRequest('Give the token by --token-file or DAS_TOKEN.')
  if (!parseToken(token.trim())) {
    throw badRequest(`${tokenFile ?? 'DAS_TOKEN'} has no token: das_live_ and 49 characters.`)
  }
  return { address: addressOf(address), token: token.trim() }
}

function addressOf(text: string): string {
  try {
    return parseUrl(text)
  } catch (cause) {
    throw badRequest(`--server: ${(cause as Error).message}.`)
  }
}

function readToken(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw badRequest(`Can't read the token file ${path} (${code}).`)
  }
}
