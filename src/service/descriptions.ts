import type { Access } from '../access/access.js'
import { columnAbout, columnOperators } from '../columns/column.js'
import type { Column } from '../columns/column.js'
import { firstColumns } from '../catalog/first-columns.js'
import { encodeForUrl, encodeList } from '../query/write-url.js'
import { Cache } from '../cache.js'
import type { Engine, ReadOptions } from '../engine/engine.js'
import { isoTime } from '../text.js'
import { scopeOf } from '../access/scope.js'
import { historyText } from '../columns/history-value.js'
import { aggregateFacts, codeGuide } from './aggregate-facts.js'
import type { ColumnDescription, DatasetDescription, DatasetSummary } from './answer-schemas.js'

/** The data that derives from the rows of an access. */
interface SeenRows {
  readonly rows: number
  readonly asOf: string | null
  /**
   * Key and history values of the first row, by column name: after an edit of the registry the
   * column objects differ. Empty if there is no row.
   */
  readonly sample: ReadonlyMap<string, string>
}

const exampleColumns = 4
/** For all datasets: about a hundred bytes for each plan. */
const cachedLettersMax = 8 * 1024 ** 2

/** Equal for accesses to the same rows: the same version, window and subset. */
export function rowsKey({ dataset, version, key }: Access): string {
  return `${dataset.name} ${version.id} ${key}`
}

/**
 * Describes datasets for one access: row counts and examples come from the caller's own window and
 * subset. They are cached until the version or the window changes.
 */
export class Descriptions {
  readonly #engine: Engine
  readonly #facts = new Cache<SeenRows>(
    cachedLettersMax,
    ({ sample }, key) => key.length + JSON.stringify([...sample]).length,
  )

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async summary(access: Access, options: ReadOptions): Promise<DatasetSummary> {
    const facts = await this.#factsOf(access, options)
    return { ...headOf(access, facts), columns: access.columns.length }
  }

  async description(access: Access, options: ReadOptions): Promise<DatasetDescription> {
    const facts = await this.#factsOf(access, options)
    const { dataset, columns, version } = access
    const isShown = (column: Column) => columns.includes(column)
    const aggregates = aggregateFacts(access)
    return {
      ...headOf(access, facts),
      source: dataset.source,
      key: version.key.filter(isShown).map(({ name }) => name),
      history: columns.find((column) => column === version.history)?.name ?? null,
      require_filter: dataset.requireFilter,
      limit: dataset.limit,
      columns: columns.map((column) => ({
        ...describeColumn(column),
        ...(aggregates && codeGuide(column)),
      })),
      examples: exampleRequests(access, facts),
      aggregates,
    }
  }

  /** Key and history values of the first row, by column name, in URL form. */
  async sample(access: Access, options: ReadOptions): Promise<ReadonlyMap<string, string>> {
    return (await this.#factsOf(access, options)).sample
  }

  #factsOf(access: Access, options: ReadOptions): Promise<SeenRows> {
    return this.#facts.get(rowsKey(access), async () => ({
      rows: await this.#engine.count(access.version, access.predicates, options),
      asOf: await this.#newest(access, options),
      sample: await this.#readSample(access, options),
    }))
  }

  /** The newest value of the visible history column among the rows that the caller sees. */
  async #newest(access: Access, options: ReadOptions): Promise<string | null> {
    const { dataset, plan, predicates, version } = access
    const { history, newestHistory } = version
    if (dataset.asOf !== null || !history || history.hidden) return null
    // A plan's window ends with the newest value of the version.
    if (plan) return newestHistory === undefined ? null : historyText(history, newestHistory)
    const question = { version, predicates, columns: [history], valuesMax: 1, rowsMax: null }
    const [column] = (await this.#engine.profile(question, options)).columns
    const max = column?.max ?? null
    return max?.replaceAll('"', '').split('T')[0] ?? null
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
        // `JSON.parse` would round a larger integer to another value.
        return typeof value === 'string' || Number.isSafeInteger(value)
          ? [[name, String(value)] as const]
          : []
      }),
    )
  }
}

function headOf(access: Access, { rows, asOf }: SeenRows) {
  const { dataset, version } = access
  return {
    name: dataset.name,
    title: dataset.title,
    description: dataset.description,
    rows,
    version: version.id,
    as_of: dataset.asOf ?? asOf,
    updated_at: isoTime(version.modifiedMs),
    scope: scopeOf(access),
  }
}

/** A column of `GET /v1/<dataset>/schema`. */
export function describeColumn(column: Column): ColumnDescription {
  return {
    name: column.name,
    type: column.rules.shown,
    nullable: column.nullable,
    ...columnAbout((key) => column[key]),
    operators: [...columnOperators(column)],
    ...(column.check && { check: column.check }),
  }
}

/** Columns for example filters, of types that read well in URLs: fast ones, or else the first. */
function exampleFilters(access: Access): readonly Column[] {
  const shown = ['integer', 'string', 'date', 'timestamp']
  const isShown = ({ rules }: Column) => shown.includes(rules.shown)
  const fast = fastColumns(access).filter(isShown)
  return fast.length > 0 ? fast : access.columns.filter(isShown).slice(0, exampleColumns)
}

/**
 * The columns with known bounds in every file, where filters skip most files; and those that row
 * copies find rows by.
 */
export function fastColumns({ version, columns }: Access): readonly Column[] {
  const isCopied = version.files.every(({ rowCopy, rows }) => rowCopy !== null || rows === 0)
  const found = isCopied ? version.lookUps : []
  const known = new Set([...version.key, ...(version.history ? [version.history] : []), ...found])
  return [...known].filter((column) => columns.includes(column))
}

function exampleRequests(access: Access, { sample }: SeenRows): string[] {
  const { dataset, columns } = access
  const path = `/v1/${dataset.name}`
  const names = columns.map(({ name }) => name)
  const shown = new Set(names)
  const select = firstColumns(dataset.firstNames, columns, (name) => shown.has(name))
  const listed = encodeList(select)
  const filters = [...sample].map(
    ([name, value]) => `${encodeForUrl(name)}=eq.${encodeForUrl(value)}`,
  )
  const [first] = filters
  if (first === undefined) return [`${path}?${encodeForUrl(names[0] ?? '')}=not_null&limit=10`]
  return [
    `${path}?${first}`,
    `${path}?${filters.slice(0, 2).join('&')}&select=${listed}`,
    `${path}?${filters.at(-1) ?? first}&select=${listed}&limit=10`,
  ]
}
