import type { Access } from '../access/access.js'
import type { Column } from '../columns/column.js'
import type { ColumnProfile, Engine, Profile, ReadOptions } from '../engine/engine.js'
import { keepingDigits, writtenJson } from '../query/exact-json.js'
import { fastColumns } from './descriptions.js'

/** The values of a column in the rows of an access. */
export interface ColumnStatistics {
  /** All values, if there are few. */
  readonly values?: readonly unknown[]
  readonly min?: unknown
  readonly max?: unknown
  /** From 0 to 1. */
  readonly null_share?: number
}

export interface DatasetStatistics {
  /** Rows that were read. */
  readonly rows: number
  /** In the order of the access's columns. */
  readonly columns: readonly ColumnStatistics[]
  /** The parts that come from a sample, in words; null if all rows were read. */
  readonly caution: string | null
}

const valuesMax = 20
/** A column with at least this many rows per value, on average, holds categories. */
const rowsPerValueMin = 4
/** Larger datasets are sampled at this size. */
const sampleRowsMax = 100_000

/**
 * The statistics of all columns. A large dataset is sampled; then all rows are read again for
 * columns with few values in the sample, and for columns that most filters use.
 */
export async function columnStatistics(
  engine: Engine,
  access: Access,
  rows: number,
  options: ReadOptions,
): Promise<DatasetStatistics> {
  const { version, predicates, columns } = access
  const all = { version, predicates, columns, valuesMax, rowsMax: null }
  if (rows <= sampleRowsMax) {
    const profile = await engine.profile(all, options)
    const facts = profile.columns.map((column) => factsOf(column, profile.rows))
    return { rows: profile.rows, columns: facts, caution: null }
  }
  const sample = await engine.profile({ ...all, rowsMax: sampleRowsMax }, options)
  const chosen = new Set([...fastColumns(access), ...columns.filter(seemsListed(sample))])
  const whole =
    chosen.size === 0 ? null : await engine.profile({ ...all, columns: [...chosen] }, options)
  const places = new Map([...chosen].map((column, index) => [column, index]))
  const facts = columns.map((column, index) => {
    const place = places.get(column)
    if (whole && place !== undefined) return factsOf(whole.columns[place], whole.rows)
    return factsOf(sample.columns[index], sample.rows)
  })
  return { rows: sample.rows, columns: facts, caution: caution(sample.rows, chosen) }
}

function seemsListed({ columns, rows }: Profile): (column: Column, index: number) => boolean {
  return (_column, index) => {
    const found = columns[index]
    return found !== undefined && isListed(found, rows)
  }
}

function caution(rows: number, chosen: ReadonlySet<Column>): string {
  const sampled = `min, max and null_share come from a sample of ${rows} rows: other values exist.`
  if (chosen.size === 0) return sampled
  return `${sampled} From all rows: ${[...chosen].map(({ name }) => name).join(', ')}.`
}

function factsOf(profile: ColumnProfile | undefined, rows: number): ColumnStatistics {
  if (!profile || rows === 0) return {}
  const { emptyRows, min, max, values } = profile
  const isShort = values !== null && isListed(profile, rows)
  return {
    ...(isShort && { values: values.map(exactValue) }),
    ...(min !== null && !isShort && { min: exactValue(min) }),
    ...(max !== null && !isShort && { max: exactValue(max) }),
    null_share: share(emptyRows, rows),
  }
}

function exactValue(json: string): unknown {
  return writtenJson(keepingDigits(json))
}

function isListed({ emptyRows, values }: ColumnProfile, rows: number): boolean {
  return values !== null && (rows - emptyRows) / values.length >= rowsPerValueMin
}

/** Rounds to three decimals; returns 0 or 1 only if exact. */
function share(part: number, whole: number): number {
  if (part === 0 || part === whole) return part / whole
  return Math.min(Math.max(Math.round((part / whole) * 1000) / 1000, 0.001), 0.999)
}
