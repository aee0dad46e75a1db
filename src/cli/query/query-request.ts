import { parseCalls } from '../../columns/call-text.js'
import type { Call } from '../../columns/call-text.js'
import { badRequest } from '../../errors.js'
import { parseList } from '../../query/parse-list.js'
import { reservedNames, summaryNames } from '../../registry/column-names.js'
import { quoted } from '../../text.js'
import type { Flags } from '../command.js'

/** The options of `das query` that say what to ask for. */
export type RequestFlags = Flags & {
  readonly select?: string
  readonly limit?: string
  readonly cursor?: string
  readonly export?: boolean
  readonly group?: string
  readonly measures?: string
  readonly having?: readonly string[]
  readonly order?: string
  /** True without a language. */
  readonly labels?: boolean | string
  readonly top?: string
}

type Parameters = readonly (readonly [string, string])[]

/** A request for rows, for the first rows by one column, or for groups of rows. */
export interface QueryRequest {
  readonly kind: 'rows' | 'top' | 'groups'
  /** The parameters that every request for the answer has. */
  readonly parameters: Parameters
  /** Null = one answer of the server's usual size. */
  readonly rowsMax: number | null
  /** The columns that the options name; null = all columns of the dataset. */
  readonly names: readonly string[] | null
}

const groupOptions = ['group', 'measures', 'having', 'order', 'labels'] as const

/** The options that each kind excludes. */
const excluded = {
  groups: ['top', 'select', 'cursor', 'export'],
  top: ['cursor', 'export'],
  rows: [],
} as const

/** @throws bad_request for what is not a filter, and for options that exclude each other */
export function readRequest(filters: readonly string[], flags: RequestFlags): QueryRequest {
  const kind = kindOf(flags)
  const rowsMax = readLimit(flags)
  const given = filters.map((text) => readFilter(text, kind))
  if (kind === 'groups') {
    const parameters = [...given, ...groupParameters(flags)]
    return { kind, parameters, rowsMax, names: groupNames(flags, []) }
  }
  const { select, top } = flags
  const parameters = [...given, ...optional('by', top), ...optional('select', select)]
  const names = select === undefined ? null : parseList(select, '--select')
  return { kind, parameters, rowsMax, names }
}

function kindOf(flags: RequestFlags): QueryRequest['kind'] {
  const isGiven = (name: keyof RequestFlags) => flags[name] !== undefined
  const option = groupOptions.find(isGiven)
  const kind = option ? 'groups' : isGiven('top') ? 'top' : 'rows'
  const other = excluded[kind].find(isGiven)
  if (other) {
    throw badRequest(
      `--${option ?? 'top'} and --${other} exclude each other. Leave one of them out.`,
    )
  }
  if (option && !flags.measures) {
    throw badRequest(`--${option} needs --measures. Example: --measures count`)
  }
  return kind
}

function groupParameters({ group, measures, having, order, labels }: RequestFlags): Parameters {
  return [
    ...optional('group', group),
    ...optional('measures', measures),
    ...(having ?? []).flatMap((text) => optional('having', text)),
    ...optional('order', order),
    ...optional('labels', labels === undefined ? undefined : String(labels)),
  ]
}

function optional(name: string, value: string | undefined): Parameters {
  return value === undefined ? [] : [[name, value]]
}

/**
 * The keys of the answer to these options, where codes of the `labelled` columns have names.
 * @throws bad_request for a list that can't be read
 */
export function groupNames(
  { group, measures }: RequestFlags,
  labelled: readonly string[],
): readonly string[] {
  const groups = group ? parseCalls(group, '--group') : []
  const values = measures ? parseCalls(measures, '--measures') : []
  return [
    ...groups.flatMap((call) => {
      const isCode = call.operands === null || call.name === 'prefix'
      const isLabelled = isCode && labelled.includes(call.operands?.[0]?.[0] ?? call.name)
      return isLabelled ? [keyOf(call), `${keyOf(call)}:label`] : [keyOf(call)]
    }),
    ...values.map(keyOf),
  ]
}

function keyOf({ alias, name, operands, text }: Call): string {
  return alias ?? (operands === null ? name : text)
}

function readLimit({ limit, export: isExport }: RequestFlags): number | null {
  if (limit === undefined) return null
  if (isExport) throw badRequest('--export returns all rows. Leave out --export or --limit.')
  if (/^[1-9]\d{0,14}$/.test(limit)) return Number(limit)
  throw badRequest(`--limit must be a whole number of rows, such as 500, got ${quoted(limit)}.`)
}

/** @throws bad_request for a text that is not a filter */
function readFilter(text: string, kind: QueryRequest['kind']): readonly [string, string] {
  const end = text.indexOf('=')
  const name = text.slice(0, end)
  if (end < 1) {
    throw badRequest(
      `${quoted(text)} is not a filter. Write COLUMN=OPERATOR.VALUE, such as year=eq.2024.`,
    )
  }
  const isSummary = kind !== 'rows' && summaryNames.includes(name)
  if (!isSummary && !reservedNames.includes(name)) return [name, text.slice(end + 1)]
  const option = name === 'by' ? 'top' : name
  throw badRequest(`${quoted(name)} is not a filter here. Use the option --${option}.`)
}
