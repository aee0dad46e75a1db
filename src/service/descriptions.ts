import type { Access } from '../access/access.js'
import type { ShownType } from '../columns/column-types.js'
import { columnOperators } from '../columns/column.js'
import type { Column } from '../columns/column.js'
import type { Operator } from '../columns/operators.js'
import type { Engine, ReadOptions } from '../engine/engine.js'
import { isoTime } from '../text.js'
import { AccessCache } from './access-cache.js'

/** A dataset in the list of those that a token can see (`GET /v1/`). */
export interface DatasetSummary {
  readonly name: string
  readonly title: string
  readonly description: string | null
  /** Those that this token can see. */
  readonly rows: number
  /** How many. */
  readonly columns: number
  readonly version: string
  /** When the newest file was written, ISO 8601. */
  readonly as_of: string
}

/** Everything a caller needs to ask a dataset (`GET /v1/<dataset>/schema`). */
export interface DatasetDescription extends Omit<DatasetSummary, 'columns'> {
  readonly source: string | null
  readonly require_filter: boolean
  readonly limit: { readonly default: number; readonly max: number }
  readonly columns: ColumnDescription[]
  /** Ready paths with a query, relative to the service's root. */
  readonly examples: string[]
}

export interface ColumnDescription {
  readonly name: string
  readonly type: ShownType
  readonly nullable: boolean
  readonly unit: string | null
  readonly description: string | null
  readonly operators: Operator[]
}

/** What is derived from the rows that an access can see. */
interface Facts {
  readonly rows: number
  /**
   * Key and history values of the first row, by column name: a registry that was edited has other
   * column objects. Empty when there is no row.
   */
  readonly sample: ReadonlyMap<string, string>
}

const exampleColumns = 4

/**
 * Describes datasets as one access sees them: row counts and examples come from the caller's own
 * window and subset. They are kept as long as the version and the window are the same.
 */
export class Descriptions {
  readonly #engine: Engine
  readonly #facts = new AccessCache<Facts>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async summary(access: Access, options: ReadOptions): Promise<DatasetSummary> {
    const { rows } = await this.#factsOf(access, options)
    return { ...headOf(access, rows), columns: access.columns.length }
  }

  async description(access: Access, options: ReadOptions): Promise<DatasetDescription> {
    const facts = await this.#factsOf(access, options)
    const { dataset } = access
    return {
      ...headOf(access, facts.rows),
      source: dataset.source,
      require_filter: dataset.requireFilter,
      limit: dataset.limit,
      columns: access.columns.map(describeColumn),
      examples: exampleRequests(access, facts),
    }
  }

  /** Key and history values of the first row, by column name, as a URL has them. */
  async sample(access: Access, options: ReadOptions): Promise<ReadonlyMap<string, string>> {
    return (await this.#factsOf(access, options)).sample
  }

  #factsOf(access: Access, options: ReadOptions): Promise<Facts> {
    return this.#facts.get(access, async () => ({
      rows: await this.#engine.count(access.version, access.predicates, options),
      sample: await this.#readSample(access, options),
    }))
  }

  async #readSample(access: Access, options: ReadOptions): Promise<ReadonlyMap<string, string>> {
    const { version, predicates } = access
    const columns = exampleFilters(access)
    if (columns.length === 0) return new Map()
    const question = { version, predicates, columns, after: null, limit: 1 }
    const { rows } = await this.#engine.read(question, options)
    const row = JSON.parse(String(rows[0]?.encoded ?? '{}')) as Readonly<Record<string, unknown>>
    return new Map(
      columns.flatMap(({ name }) => {
        const value = row[name]
        // JSON.parse rounds a larger integer: it would be another value.
        return typeof value === 'string' || Number.isSafeInteger(value)
          ? [[name, String(value)] as const]
          : []
      }),
    )
  }
}

function headOf({ dataset, version }: Access, rows: number) {
  return {
    name: dataset.name,
    title: dataset.title,
    description: dataset.description,
    rows,
    version: version.id,
    as_of: isoTime(version.modifiedMs),
  }
}

/** A column in the words of `GET /v1/<dataset>/schema`. */
export function describeColumn(column: Column): ColumnDescription {
  return {
    name: column.name,
    type: column.rules.shown,
    nullable: column.nullable,
    unit: column.unit,
    description: column.description,
    operators: [...columnOperators(column)],
  }
}

/** The columns that filters are quick on, of types whose values a URL shows well. */
function exampleFilters(access: Access): readonly Column[] {
  const shown = ['integer', 'string', 'date', 'timestamp']
  return fastColumns(access).filter(({ rules }) => shown.includes(rules.shown))
}

/** The columns whose ends are known of every file, so that a filter passes over most files. */
export function fastColumns({ version, columns }: Access): readonly Column[] {
  const known = new Set([...version.key, ...(version.history ? [version.history] : [])])
  return [...known].filter((column) => columns.includes(column))
}

function exampleRequests(access: Access, { sample }: Facts): string[] {
  const { dataset, columns } = access
  const path = `/v1/${dataset.name}`
  const select = columns.slice(0, exampleColumns).map((column) => encodeURIComponent(column.name))
  const filters = [...sample].map(
    ([name, value]) => `${encodeURIComponent(name)}=eq.${encodeURIComponent(value)}`,
  )
  const [first] = filters
  if (first === undefined) return dataset.requireFilter ? [] : [`${path}?limit=10`]
  return [
    `${path}?${first}`,
    `${path}?${filters.slice(0, 2).join('&')}&select=${select.join(',')}`,
    `${path}?${filters.at(-1) ?? first}&select=${select.join(',')}&limit=10`,
  ]
}
