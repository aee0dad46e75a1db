import { possibleAccesses } from '../access/access.js'
import type { Access } from '../access/access.js'
import { Cache } from '../cache.js'
import type { CacheUse } from '../cache.js'
import type { Catalog } from '../catalog.js'
import type { Clock } from '../clock.js'
import { firstColumns } from '../catalog/first-columns.js'
import type { Column } from '../columns/column.js'
import { latestYears } from '../columns/predicate.js'
import { withDeadline } from '../engine/deadline.js'
import type { Engine, ReadOptions, Row } from '../engine/engine.js'
import { ServiceError } from '../errors.js'
import { keepingDigits, parseKeepingDigits } from '../query/exact-json.js'
import { measuredNames } from '../registry/measures.js'
import { usableMeasures } from '../query/summary/read-measures.js'
import { textsOf } from '../row-texts.js'
import { aggregateGuide } from './aggregate-guide.js'
import type { AggregateGuide } from './aggregate-guide.js'
import { columnStatistics } from './column-statistics.js'
import type { DatasetStatistics } from './column-statistics.js'
import type { ColumnDescription, ColumnStatistics, DatasetDescription } from './answer-schemas.js'
import { fastColumns, rowsKey } from './descriptions.js'
import type { Descriptions } from './descriptions.js'
import { exampleCalls, operatorExamples } from './examples.js'
import type { ExampleCall, OperatorExample, SampleRow } from './examples.js'

/**
 * Tells an agent how to write a correct first query. All data comes from the caller's own rows,
 * written by `exactJsonText`; a number that JSON readers round is a string of its digits.
 */
export interface DatasetGuide extends Omit<
  DatasetDescription,
  'key' | 'history' | 'columns' | 'examples' | 'aggregates'
> {
  /** Columns whose filters skip most of the files. */
  readonly fast_filters: readonly string[]
  /** Columns that a short description shows first: the fast ones and those of the measures. */
  readonly main_columns: readonly string[]
  /** Rows behind the statistics; null if the statistics were late. */
  readonly profiled_rows: number | null
  /** The limits of the statistics; null if they cover all rows. */
  readonly caution: string | null
  readonly columns: readonly ColumnDescription[]
  /** Everything that people read of each column, in both languages, to search in. */
  readonly texts: readonly string[]
  readonly operators: readonly OperatorExample[]
  /** Rows of the newest year, not charged: the JSON texts of their cells, in column order. */
  readonly sample_rows: readonly (readonly string[])[]
  readonly examples: readonly ExampleCall[]
  /** Null if aggregates are switched off. */
  readonly aggregates: AggregateGuide | null
}

export interface GuideFailure {
  readonly dataset: string
  readonly cause: unknown
}

const sampleRows = 3
/** For all guides: some hundred bytes for each column of each plan. */
const cachedLettersMax = 32 * 1024 ** 2
/** For a caller that waits for the guide. */
const usualPatienceMs = 3000
/** For guides that are prepared before any request. */
const preparePatienceMs = 30_000

/** The columns of a first question that have values. */
function shownFirst(
  { dataset, columns }: Access,
  facts: readonly ColumnStatistics[] | undefined,
): readonly string[] {
  const filled = columns.filter((_, at) => facts?.[at]?.null_share !== 1).map(({ name }) => name)
  const shown = new Set(filled)
  return firstColumns(dataset.firstNames, columns, (name) => shown.has(name))
}

function textsOfColumn({ name, label, section, description, russian, levels }: Column): string {
  const about = [label, section, description, russian.label, russian.section, russian.description]
  const called = levels.flatMap((each) => [each.name, each.label, each.russian.label])
  return [name, ...about, ...called].filter(Boolean).join('\n')
}

/** The part of a guide that derives from rows. */
interface RowFacts extends Pick<
  DatasetGuide,
  'profiled_rows' | 'caution' | 'operators' | 'sample_rows'
> {
  readonly examples: readonly Omit<ExampleCall, 'select'>[]
  /** In the order of the access's columns; undefined if the statistics were late. */
  readonly columns: readonly ColumnStatistics[] | undefined
}

/**
 * Makes guides for the part of a dataset that one access sees. Data from rows is cached by version
 * and window; the registry's texts are always current.
 */
export class Guides {
  readonly #engine: Engine
  readonly #clock: Clock
  readonly #descriptions: Descriptions
  readonly #facts = new Cache<RowFacts>(
    cachedLettersMax,
    (facts, key) => key.length + JSON.stringify(facts).length,
  )

  constructor(engine: Engine, descriptions: Descriptions, clock: Clock) {
    this.#engine = engine
    this.#clock = clock
    this.#descriptions = descriptions
  }

  get cacheUse(): CacheUse {
    return this.#facts.use
  }

  /** The statistics may take `patienceMs`; if they are late, nothing is cached. */
  async guide(
    access: Access,
    options: ReadOptions,
    patienceMs = usualPatienceMs,
  ): Promise<DatasetGuide> {
    const description = await this.#descriptions.description(access, options)
    const { columns, examples: _, key: __, history: ___, aggregates, ...head } = description
    const found = await this.#facts.get(
      rowsKey(access),
      () => this.#read(access, head.rows, options, patienceMs),
      ({ profiled_rows: rows }) => rows !== null,
    )
    const { profiled_rows: profiledRows, caution, columns: facts, examples: calls, ...rest } = found
    const select = shownFirst(access, facts)
    const fast = fastColumns(access).map(({ name }) => name)
    const measured = usableMeasures(access)
      .flatMap(measuredNames)
      .filter((name) => columns.some((column) => column.name === name))
    return Object.freeze({
      ...head,
      fast_filters: fast,
      main_columns: [...new Set([...fast, ...select, ...measured])],
      profiled_rows: profiledRows,
      caution,
      columns: columns.map((column, at) => ({ ...column, ...facts?.[at] })),
      texts: access.columns.map(textsOfColumn),
      ...rest,
      examples: calls.map(({ purpose, filters, ...call }) => ({
        purpose,
        filters,
        select,
        ...call,
      })),
      aggregates: aggregates && aggregateGuide(access, aggregates, found),
    })
  }

  /**
   * Makes the guides for every plan, unless they are cached, until the cache is full. The others,
   * and those whose failure `report` gets, are made on demand. Whether all were tried.
   */
  async prepare(
    catalog: Catalog,
    signal: AbortSignal,
    report: (failure: GuideFailure) => void,
  ): Promise<boolean> {
    const accesses = possibleAccesses(catalog)
    this.#facts.retain(accesses.map(rowsKey))
    for (const access of accesses) {
      if (this.#facts.isFull) return false
      try {
        await this.guide(access, { signal, client: 'preparation' }, preparePatienceMs)
      } catch (cause) {
        if (signal.aborted) return false
        report({ dataset: access.dataset.name, cause })
      }
    }
    return true
  }

  async #read(
    access: Access,
    visible: number,
    options: ReadOptions,
    patienceMs: number,
  ): Promise<RowFacts> {
    const rows = await this.#newestRows(access, options)
    const sample = rows.map(({ encoded }) => parseKeepingDigits(String(encoded)) as SampleRow)
    const facts = await this.#profile(access, visible, options, patienceMs)
    return Object.freeze({
      profiled_rows: facts?.rows ?? null,
      caution: facts?.caution ?? null,
      columns: facts?.columns,
      operators: operatorExamples(access, sample),
      sample_rows: rows.map(({ encoded }) => textsOf(keepingDigits(String(encoded))).cells),
      examples: await exampleCalls(this.#engine, access, sample, options),
    })
  }

  /** Rows of the newest year, or the first rows if the caller sees too few of that year. */
  async #newestRows(access: Access, options: ReadOptions): Promise<readonly Row[]> {
    const { version, predicates, columns } = access
    const { history, newestHistory } = version
    const all = { version, predicates, columns, after: null, limit: sampleRows }
    if (history && !history.hidden) {
      const newest = [...predicates, ...latestYears(history, newestHistory, 1)]
      const { rows } = await this.#engine.read({ ...all, predicates: newest }, options)
      if (rows.length === sampleRows) return rows
    }
    return (await this.#engine.read(all, options)).rows
  }

  /** Null if the statistics are late: the rest of the guide is still useful. */
  async #profile(
    access: Access,
    rows: number,
    options: ReadOptions,
    patienceMs: number,
  ): Promise<DatasetStatistics | null> {
    try {
      return await withDeadline(this.#clock, patienceMs, options.signal, (signal) =>
        columnStatistics(this.#engine, access, rows, { ...options, signal }),
      )
    } catch (cause) {
      const isLate = cause instanceof ServiceError && cause.code === 'timeout'
      if (isLate && !options.signal.aborted) return null
      throw cause
    }
  }
}
