import { Type } from 'typebox'
import type { Static } from 'typebox'
import { Value } from 'typebox/value'
import { Fault } from '../../harness/fault.js'

/** A dataset whose cells follow from id, year and generation, so that clients know every row. */
export interface Table {
  readonly name: string
  /** A file each. */
  readonly years: readonly number[]
  /** Rows of each year, the ids from 0 on. */
  readonly rows: number
  /** How much longer each label is, so that answers are long. */
  readonly letters: number
}

/** A row as every door sends it. */
const RowSchema = Type.Object({
  id: Type.Integer(),
  year: Type.Integer(),
  generation: Type.Integer(),
  value: Type.Integer(),
  label: Type.String(),
})
export type Row = Static<typeof RowSchema>
const Rows = Type.Array(RowSchema)

/** Rows of these years whose id is in `from` … `to` − 1. */
export interface Selection {
  readonly years: readonly number[]
  readonly from: number
  readonly to: number
}

/** What rows show about the version that they came from. */
export interface Evidence {
  /** Year → generation. */
  readonly generations: ReadonlyMap<number, number>
}

const digits = 6

/** The SQL of one year's rows in one generation, the ids from 0 on. */
export function rowsSql({ rows, letters }: Table, year: number, generation: number): string {
  const value = `(i * 7919 + ${year * 104_729 + generation * 1_299_709}) % 1000000007`
  const number = `lpad(CAST(i AS VARCHAR), ${digits}, '0')`
  const label = `'row ' || ${number} || '${tail(year, generation, letters)}'`
  return `SELECT i AS id, CAST(${year} AS INTEGER) AS year,
    CAST(${generation} AS INTEGER) AS generation, ${value} AS value, ${label} AS label
    FROM range(${rows}) t(i)`
}

/** What the label of a row contains, and that of no other id. */
export function labelPart(id: number): string {
  return `row ${String(id).padStart(digits, '0')}`
}

/** How many rows a selection has. */
export function sizeOf({ years, from, to }: Selection): number {
  return years.length * (to - from)
}

/** @throws Fault where a row has another shape */
export function rowsOf(rows: readonly unknown[]): readonly Row[] {
  if (Value.Check(Rows, rows)) return rows
  throw new Fault(`a row of another shape: ${text(rows.find((row) => !isRow(row)))}`)
}

/**
 * Checks the first rows of a selection: each is right, none is missing or repeated, and each year
 * is of one generation.
 * @throws Fault naming the first row that is wrong
 */
export function checkFirst(
  rows: readonly Row[],
  { letters }: Table,
  selection: Selection,
): Evidence {
  const generations = new Map<number, number>()
  for (const row of rows) {
    requireRight(row, letters)
    const known = generations.get(row.year) ?? row.generation
    if (known !== row.generation) {
      throw new Fault(`generations ${known} and ${row.generation} in one year: ${text(row)}`)
    }
    generations.set(row.year, known)
  }
  const misplaced = rows.findIndex((row, at) => !isAt(row, at, selection))
  if (misplaced !== -1) {
    const which = text(rows[misplaced])
    throw new Fault(`a row missing, repeated or out of order at ${misplaced}: ${which}`)
  }
  return { generations }
}

function isRow(row: unknown): boolean {
  return Value.Check(RowSchema, row)
}

function requireRight(row: Row, letters: number): void {
  const { id, year, generation } = row
  const value = (id * 7919 + year * 104_729 + generation * 1_299_709) % 1_000_000_007
  const label = labelPart(id) + tail(year, generation, letters)
  if (row.value !== value || row.label !== label) throw new Fault(`a torn row: ${text(row)}`)
}

function tail(year: number, generation: number, letters: number): string {
  // Not padded like an id, which a search would find here.
  return ` of ${year}, g${generation}${'x'.repeat(letters)}`
}

/** Whether a row is due here: year by year, as the files are. */
function isAt({ id, year }: Row, index: number, { years, from, to }: Selection): boolean {
  const span = to - from
  return id === from + (index % span) && year === years[Math.floor(index / span)]
}

function text(row: unknown): string {
  return JSON.stringify(row ?? null).slice(0, 300)
}
