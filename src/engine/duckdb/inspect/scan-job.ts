import type { Column } from '../../../columns/column.js'
import { servedText } from '../encode/encode.js'
import { compileRows } from '../read/compile.js'
import type { Statement } from '../read/compile.js'
import { SqlParameters, mayBeInfinite } from '../read/condition.js'
import type { Piece } from '../read/pieces.js'
import { isRounded } from './rounded.js'

/** Files, all laid out alike, and columns of theirs that one statement reads. */
export interface ScanJob {
  readonly files: Piece['files']
  readonly columns: readonly Column[]
}

/** What all values of a column say. */
export interface ScannedColumn {
  /** Rows with a value. */
  readonly values: number
  readonly onlyValue: string | null
  readonly notFiniteRows: number
  readonly roundedRows: number
  readonly roundedExample: string | null
}

const factsPerColumn = 7

/** Facts of each column. The hash has every value decoded: counts and ends may be from footers. */
export function compileScan({ files, columns }: ScanJob, range: Piece['range']): Statement {
  const parameters = new SqlParameters()
  const named = columns.map((column, index) => [`c${index}`, column] as const)
  const facts = named.flatMap(([name, column]) => {
    const { type } = column
    const rounded = isRounded(type, name)
    const [min, max] = isOrdered(column) ? [`min(${name})`, `max(${name})`] : ['NULL', 'NULL']
    const value = (sql: string) => (sql === 'NULL' ? sql : servedText(type, sql))
    return [
      `bit_xor(hash(${name}))`,
      `count(${name})`,
      value(min),
      value(max),
      mayBeInfinite(column) ? countWhere(`NOT isfinite(${name})`) : '0',
      rounded === 'false' ? '0' : countWhere(rounded),
      rounded === 'false' ? 'NULL' : servedText(type, `max(CASE WHEN ${rounded} THEN ${name} END)`),
    ]
  })
  const rows = compileRows({ files, range }, [], named, parameters)
  return { sql: `SELECT ${facts.join(', ')} FROM (${rows})`, values: parameters.values }
}

/** Never with FILTER, for which DuckDB copies every column of a chunk for every aggregate. */
function countWhere(condition: string): string {
  return `count(CASE WHEN ${condition} THEN 1 END)`
}

/** Types whose ends tell whether there is one value only. */
function isOrdered({ rules: { domain } }: Column): boolean {
  return domain.kind === 'text' ? domain.form !== 'rendered' : domain.kind !== 'opaque'
}

/** Joins what one statement found with what earlier ones did, by the files' own names. */
export function addFacts(
  scanned: Map<string, ScannedColumn>,
  { columns }: ScanJob,
  facts: readonly unknown[][],
): void {
  for (const [index, { source }] of columns.entries()) {
    const cells = facts.slice(index * factsPerColumn, (index + 1) * factsPerColumn)
    const [, values, min, max, notFinite, rounded, example] = cells.map(([cell]) => cell)
    const before = scanned.get(source)
    scanned.set(source, {
      values: (before?.values ?? 0) + Number(values),
      onlyValue: onlyOf(before, Number(values), min === max ? textOrNull(min) : null),
      notFiniteRows: (before?.notFiniteRows ?? 0) + Number(notFinite),
      roundedRows: (before?.roundedRows ?? 0) + Number(rounded),
      roundedExample: before?.roundedExample ?? textOrNull(example),
    })
  }
}

/** What holds no value says nothing against the one value of the others. */
function onlyOf(
  before: ScannedColumn | undefined,
  values: number,
  only: string | null,
): string | null {
  if (!before || before.values === 0) return only
  return values === 0 || before.onlyValue === only ? before.onlyValue : null
}

function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value)
}
