import type { Access } from '../access/access.js'
import { withDeadline } from '../engine/deadline.js'
import type { ColumnProfile, Engine, Profile, ReadOptions } from '../engine/engine.js'
import { ServiceError } from '../errors.js'
import { parseKeepingDigits } from '../query/exact-json.js'
import { AccessCache } from './access-cache.js'
import { fastColumns } from './descriptions.js'
import type { ColumnDescription, DatasetDescription, Descriptions } from './descriptions.js'
import { exampleCalls, operatorExamples } from './examples.js'
import type { ExampleCall, OperatorExample, SampleRow } from './examples.js'

/**
 * What an agent needs to ask a dataset right at the first try. All of it comes from the caller's
 * own rows; a number that JSON readers round is a string of its digits.
 */
export interface DatasetGuide extends Omit<DatasetDescription, 'columns' | 'examples'> {
  /** Which part of the dataset the caller sees, in words. */
  readonly visible_rows: string
  /** Columns whose filters save reading most of the files. */
  readonly fast_filters: readonly string[]
  /** Rows that the columns' facts come from; null when they could not be had in time. */
  readonly profiled_rows: number | null
  readonly columns: readonly ColumnGuide[]
  readonly operators: readonly OperatorExample[]
  /** The first rows, not charged. */
  readonly sample_rows: readonly SampleRow[]
  readonly examples: readonly ExampleCall[]
}

export interface ColumnGuide extends ColumnDescription {
  /** Every value, where they are few. */
  readonly values?: readonly unknown[]
  readonly min?: unknown
  readonly max?: unknown
  /** From 0 to 1. */
  readonly null_share?: number
}

const sampleRows = 3
const valuesMax = 20
/** A column of so many rows a value, on average, is one of classes and not of chance. */
const rowsPerValueMin = 4
/** In larger windows the columns' facts come from a sample of this size. */
const profileRowsMax = 100_000
/** For a caller who waits for the guide. */
const usualPatienceMs = 3000

/** Makes guides as one access sees a dataset; kept while version and window are the same. */
export class Guides {
  readonly #engine: Engine
  readonly #descriptions: Descriptions
  readonly #guides = new AccessCache<DatasetGuide>()

  constructor(engine: Engine, descriptions: Descriptions) {
    this.#engine = engine
    this.#descriptions = descriptions
  }

  /** The facts of columns may take `patienceMs`; without them a guide is not kept. */
  guide(access: Access, options: ReadOptions, patienceMs = usualPatienceMs): Promise<DatasetGuide> {
    return this.#guides.get(
      access,
      () => this.#make(access, options, patienceMs),
      (guide) => guide.profiled_rows !== null,
    )
  }

  async #make(access: Access, options: ReadOptions, patienceMs: number): Promise<DatasetGuide> {
    const { columns, examples, ...head } = await this.#descriptions.description(access, options)
    const { version, predicates } = access
    const first = { version, predicates, columns: access.columns, after: null, limit: sampleRows }
    const { rows } = await this.#engine.read(first, options)
    const sample = rows.map(({ json }) => parseKeepingDigits(json) as SampleRow)
    const profile = await this.#profile(access, head.rows, options, patienceMs)
    return Object.freeze({
      ...head,
      visible_rows: visibleRows(access),
      fast_filters: fastColumns(access).map(({ name }) => name),
      profiled_rows: profile?.rows ?? null,
      columns: columns.map((column, index) => ({
        ...column,
        ...(profile && columnFacts(profile.columns[index], profile.rows)),
      })),
      operators: operatorExamples(access, sample),
      sample_rows: sample,
      examples: await exampleCalls(this.#engine, access, sample, options),
    })
  }

  /** Null where the time for it is not enough: the rest of the guide is worth having without. */
  async #profile(
    access: Access,
    rows: number,
    options: ReadOptions,
    patienceMs: number,
  ): Promise<Profile | null> {
    const { version, predicates, columns } = access
    const rowsMax = rows > profileRowsMax ? profileRowsMax : null
    const question = { version, predicates, columns, valuesMax, rowsMax }
    try {
      return await withDeadline(patienceMs, options.signal, (signal) =>
        this.#engine.profile(question, { ...options, signal }),
      )
    } catch (cause) {
      const isLate = cause instanceof ServiceError && cause.code === 'timeout'
      if (isLate && !options.signal.aborted) return null
      throw cause
    }
  }
}

function visibleRows({ plan, version }: Access): string {
  if (!plan) return 'the demo subset of the dataset'
  if (plan.history === 'all' || !version.history) return 'all rows'
  const years = plan.history === 1 ? 'year' : `${plan.history} years`
  return `the latest ${years} by ${version.history.name}`
}

function columnFacts(
  profile: ColumnProfile | undefined,
  rows: number,
): Pick<ColumnGuide, 'values' | 'min' | 'max' | 'null_share'> {
  if (!profile || rows === 0) return {}
  const { emptyRows, min, max, values } = profile
  const isListed = values !== null && (rows - emptyRows) / values.length >= rowsPerValueMin
  return {
    ...(isListed && { values: values.map(parseKeepingDigits) }),
    ...(min !== null && !isListed && { min: parseKeepingDigits(min) }),
    ...(max !== null && !isListed && { max: parseKeepingDigits(max) }),
    null_share: share(emptyRows, rows),
  }
}

/** To three decimals; never 0 or 1 where it is not quite. */
function share(part: number, whole: number): number {
  if (part === 0 || part === whole) return part / whole
  return Math.min(Math.max(Math.round((part / whole) * 1000) / 1000, 0.001), 0.999)
}
