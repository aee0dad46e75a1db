import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Fault } from '../harness/fault.js'

/** A row as every door sends it. All of it follows from id, year and generation. */
export const RowSchema = Type.Object({
  id: Type.Integer(),
  year: Type.Integer(),
  generation: Type.Integer(),
  value: Type.Integer(),
  label: Type.String(),
})
export type Row = Static<typeof RowSchema>

/** Rows of these years whose id is in `from` … `to` − 1. */
export interface Selection {
  readonly years: readonly number[]
  readonly from: number
  readonly to: number
}

/** That of the source files, year by year, or that of packed ones, by id and year. */
export type Order = 'source' | 'packed'

/** What rows show about the version that they came from. */
export interface Evidence {
  /** Year → generation. */
  readonly generations: ReadonlyMap<number, number>
  /** Null where both orders are the same. */
  readonly order: Order | null
}

const digits = 6

/** The SQL of one year's rows in one generation, the ids from 0 on. */
export function rowsSql(rows: number, year: number, generation: number): string {
  const value = `(i * 7919 + ${year * 104_729 + generation * 1_299_709}) % 1000000007`
  const label = `'row ' || lpad(CAST(i AS VARCHAR), ${digits}, '0') || '${tail(year, generation)}'`
  return `SELECT i AS id, CAST(${year} AS INTEGER) AS year,
    CAST(${generation} AS INTEGER) AS generation, ${value} AS value, ${label} AS label
    FROM range(${rows}) t(i)`
}

/**
 * Checks all rows of a selection; returns what they show.
 * @throws Fault naming the first row that is wrong
 */
export function checkWhole(rows: readonly Row[], selection: Selection): Evidence {
  const { years, from, to } = selection
  const due = years.length * (to - from)
  if (rows.length !== due) throw new Fault(`${rows.length} rows instead of ${due}`)
  return checkFirst(rows, selection)
}

/**
 * Checks the first rows of a selection: each is right, none is missing or repeated, and each year
 * is of one generation.
 * @throws Fault naming the first row that is wrong
 */
export function checkFirst(rows: readonly Row[], selection: Selection): Evidence {
  const generations = new Map<number, number>()
  for (const row of rows) {
    requireRight(row)
    const known = generations.get(row.year) ?? row.generation
    if (known !== row.generation) {
      throw new Fault(
        `rows of generations ${known} and ${row.generation} in one year: ${text(row)}`,
      )
    }
    generations.set(row.year, known)
  }
  const orders = (['source', 'packed'] as const).filter((order) => fits(rows, selection, order))
  if (orders.length === 0) throw new Fault(misplaced(rows, selection))
  return { generations, order: orders.length === 1 ? (orders[0] ?? null) : null }
}

function requireRight(row: Row): void {
  const { id, year, generation } = row
  const value = (id * 7919 + year * 104_729 + generation * 1_299_709) % 1_000_000_007
  const label = `row ${String(id).padStart(digits, '0')}${tail(year, generation)}`
  if (row.value !== value || row.label !== label) throw new Fault(`a torn row: ${text(row)}`)
}

function tail(year: number, generation: number): string {
  return ` of ${year}, ${String(generation).padStart(digits, '0')}`
}

function fits(rows: readonly Row[], selection: Selection, order: Order): boolean {
  return rows.every((row, index) => isAt(row, index, selection, order))
}

function isAt({ id, year }: Row, index: number, selection: Selection, order: Order): boolean {
  const { years, from, to } = selection
  const [span, ofYears] = [to - from, years.length]
  const [dueId, dueYear] =
    order === 'source'
      ? [from + (index % span), years[Math.floor(index / span)]]
      : [from + Math.floor(index / ofYears), years[index % ofYears]]
  return id === dueId && year === dueYear
}

function misplaced(rows: readonly Row[], selection: Selection): string {
  const index = rows.findIndex(
    (row, at) => !isAt(row, at, selection, 'source') && !isAt(row, at, selection, 'packed'),
  )
  const row = rows[Math.max(index, 0)]
  return `a row missing, repeated or out of order at ${index}: ${row ? text(row) : 'none'}`
}

function text(row: Row): string {
  return JSON.stringify(row)
}
