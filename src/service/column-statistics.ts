import type { Access } from '../access/access.js'
import { hasCodes } from '../columns/column.js'
import type { Column } from '../columns/column.js'
import type { ColumnProfile, Engine, Histogram, Profile, ReadOptions } from '../engine/engine.js'
import { keepingDigits, writtenJson } from '../query/exact-json.js'
import type { ColumnStatistics } from './answer-schemas.js'
import { fastColumns } from './descriptions.js'

export interface DatasetStatistics {
  /** Rows that were read. */
  readonly rows: number
  /** In the order of the access's columns. */
  readonly columns: readonly ColumnStatistics[]
  /** The parts that come from a sample, in words; null if all rows were read. */
  readonly caution: string | null
}

const valuesMax = 20
/** A column of codes with more values has no common ones. */
const codesMax = 1000
const commonMax = 10
/** A column with at least this many rows per value, on average, holds categories. */
const rowsPerValueMin = 4
/** The same where the registry says that the values are codes. */
const rowsPerCodeMin = 2
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
  const details = { valuesMax, codesMax, withHistograms: true }
  const all = { version, predicates, columns, ...details, rowsMax: null }
  if (rows <= sampleRowsMax) {
    const profile = await engine.profile(all, options)
    const facts = columns.map((column, at) => factsOf(column, profile.columns[at], profile.rows))
    return { rows: profile.rows, columns: facts, caution: null }
  }
  const sample = await engine.profile({ ...all, rowsMax: sampleRowsMax }, options)
  const chosen = new Set([...fastColumns(access), ...columns.filter(seemsListed(sample))])
  const whole =
    chosen.size === 0 ? null : await engine.profile({ ...all, columns: [...chosen] }, options)
  const places = new Map([...chosen].map((column, index) => [column, index]))
  const facts = columns.map((column, index) => {
    const place = places.get(column)
    if (whole && place !== undefined) return factsOf(column, whole.columns[place], whole.rows)
    return factsOf(column, sample.columns[index], sample.rows)
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
  const sampled = `min, max and shares come from a sample of ${rows} rows: other values exist.`
  if (chosen.size === 0) return sampled
  return `${sampled} From all rows: ${[...chosen].map(({ name }) => name).join(', ')}.`
}

function factsOf(
  column: Column,
  profile: ColumnProfile | undefined,
  rows: number,
): ColumnStatistics {
  if (!profile || rows === 0) return {}
  const { emptyRows, min, max, values, valueRows, histogram } = profile
  const isShort = values !== null && isListed(profile, rows)
  const rowsMin = hasCodes(column) ? rowsPerCodeMin : rowsPerValueMin
  const isCommon = values !== null && isRepeated(profile, rows, rowsMin)
  return {
    ...(isShort && { values: values.map(exactValue) }),
    ...(isCommon && { common: commonest(values, valueRows ?? [], rows) }),
    ...(histogram && !isCommon && { histogram: sharesOf(histogram, rows) }),
    ...(min !== null && !isShort && { min: exactValue(min) }),
    ...(max !== null && !isShort && { max: exactValue(max) }),
    null_share: share(emptyRows, rows),
  }
}

/** Equally common values keep their order. */
function commonest(
  values: readonly string[],
  valueRows: readonly number[],
  rows: number,
): NonNullable<ColumnStatistics['common']> {
  return values
    .map((value, at) => ({ value, rows: valueRows[at] ?? 0 }))
    .sort((left, right) => right.rows - left.rows)
    .slice(0, commonMax)
    .map((each) => ({ value: exactValue(each.value), share: share(each.rows, rows) }))
}

function sharesOf(histogram: Histogram, rows: number): NonNullable<ColumnStatistics['histogram']> {
  return {
    edges: histogram.edges.map((edge) => JSON.parse(edge) as number | string),
    shares: histogram.rows.map((each) => share(each, rows)),
  }
}

function exactValue(json: string): unknown {
  return writtenJson(keepingDigits(json))
}

function isListed(profile: ColumnProfile, rows: number): boolean {
  const { values } = profile
  const isShort = values !== null && values.length <= valuesMax
  return isShort && isRepeated(profile, rows, rowsPerValueMin)
}

/** Each value stands in at least `rowsMin` rows on average. */
function isRepeated({ emptyRows, values }: ColumnProfile, rows: number, rowsMin: number): boolean {
  return values !== null && (rows - emptyRows) / values.length >= rowsMin
}

/** Rounds to three decimals; returns 0 or 1 only if exact. */
function share(part: number, whole: number): number {
  if (part === 0 || part === whole) return part / whole
  return Math.min(Math.max(Math.round((part / whole) * 1000) / 1000, 0.001), 0.999)
}
