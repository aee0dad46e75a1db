import type { ShownType } from '../columns/column-types.js'
import type { KeyCheck } from '../columns/tax-number.js'
import { badRequest } from '../errors.js'
import { didYouMean, listed, quoted } from '../text.js'
import type { Filter } from './ask-keys.js'
import type { AskServer } from './ask-server.js'
import { keyTypes } from './judge-key.js'
import { comparePeriods } from './new-columns.js'

/** What the server says of a column. */
interface ColumnFacts {
  readonly name: string
  readonly type: ShownType
  readonly check?: KeyCheck
  readonly values?: readonly unknown[]
  readonly min?: unknown
  readonly max?: unknown
  readonly null_share?: number
}

/** What the server says of a dataset, as this token sees it. */
export interface DatasetFacts {
  readonly key: readonly string[]
  readonly history: string | null
  readonly limit: { readonly max: number }
  readonly columns: readonly ColumnFacts[]
}

const valuesMax = 1000
const triesMax = 5
const pauseMs = 1000

/** Asks what a dataset has; costs no rows. A server that has just started is asked again. */
export async function readFacts(
  ask: AskServer,
  dataset: string,
  sleep: (ms: number) => Promise<void>,
): Promise<DatasetFacts> {
  for (let tries = 1; ; tries += 1) {
    const { text } = await ask(`/v1/${encodeURIComponent(dataset)}/schema?facts=true`)
    const facts = JSON.parse(text) as DatasetFacts & Partial<Pick<DatasetFacts, 'key' | 'history'>>
    const isKnown = facts.columns.some((column) => column.null_share !== undefined)
    if (isKnown || tries === triesMax) {
      return { ...facts, key: facts.key ?? [], history: facts.history ?? null }
    }
    await sleep(pauseMs)
  }
}

/** @throws bad_request for a column that the dataset does not have, with the nearest ones */
export function columnOf({ columns }: DatasetFacts, name: string, option: string): ColumnFacts {
  const found = columns.find((column) => column.name === name)
  if (found) return found
  const near = didYouMean(
    name,
    columns.map((column) => column.name),
  )
  throw badRequest(`${option}: the dataset has no column ${quoted(name)}.${near}`)
}

/** @throws bad_request for a column by whose values rows can't be looked up */
export function keyColumn(facts: DatasetFacts, name: string): ColumnFacts {
  const column = columnOf(facts, name, '--key')
  if (keyTypes.includes(column.type)) return column
  throw badRequest(`--key: ${quoted(name)} is of type ${column.type}, not ${listed(keyTypes)}.`)
}

/**
 * The values of the history column that a list is asked for, newest first: those of the filters, or
 * all that the token sees. Null if they are not known.
 */
export function historyValues(
  { history, columns }: DatasetFacts,
  where: readonly Filter[],
): readonly string[] | null {
  const own = where.filter(({ column }) => column === history)
  const column = columns.find(({ name }) => name === history)
  const stated = own.find(({ op }) => op === 'eq' || op === 'in')?.value
  const known = stated === undefined ? knownValues(column) : [stated].flat().map(String)
  const isAsked = (value: string) =>
    own.every(({ op, value: bound }) => {
      const order = comparePeriods(value, String(bound))
      if (op === 'gt' || op === 'gte') return order > 0 || (op === 'gte' && order === 0)
      return !(op === 'lt' || op === 'lte') || order < 0 || (op === 'lte' && order === 0)
    })
  return known && [...new Set(known)].filter(isAsked).sort(comparePeriods).reverse()
}

function knownValues(column: ColumnFacts | undefined): readonly string[] | null {
  if (!column) return null
  const { type, values, min, max } = column
  if (values) return values.map(String)
  const count = Number(max) - Number(min) + 1
  if (type !== 'integer' || !(count >= 1 && count <= valuesMax)) return null
  return Array.from({ length: count }, (_, at) => String(Number(min) + at))
}

/**
 * The filters of each step of `newest`: a value of the history column at a time.
 * @throws bad_request if its values are not known
 */
export function newestSteps(
  facts: DatasetFacts,
  where: readonly Filter[],
): readonly (readonly Filter[])[] {
  const { history, columns } = facts
  if (history === null) return [[]]
  const values = historyValues(facts, where)
  if (values === null) {
    throw badRequest(
      `The values of ${quoted(history)} are too many, or not known yet: name those to look in, ` +
        `newest or not, such as --where '${history}=in.2024-12-31,2023-12-31'. Or take all rows ` +
        'of each key with --match all.',
    )
  }
  const steps = values.map((value) => [{ column: history, op: 'eq', value }])
  const isOpen = !where.some(({ column }) => column === history)
  const hasEmpty = isOpen && columns.some((each) => each.name === history && each.null_share !== 0)
  return hasEmpty ? [...steps, [{ column: history, op: 'is_null' }]] : steps
}
