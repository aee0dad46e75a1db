import type { Choice } from './choice.js'

/**
 * Estimates of the time that one thread reads, in nanoseconds, to compare the forms of a version.
 * DuckDB writes a column of a row group as one page, so the first row of a row group costs as much
 * as decompressing all of it, in every column read.
 */
const costs = {
  /** Opening a file and planning it. */
  file: 400_000,
  /** Starting a column of a row group. */
  columnOfGroup: 3000,
  /** Decompressing a value. */
  value: 6,
} as const

/** The rows of a row group: DuckDB's default, or less in files that are packed. */
const groupRowsMax = 122_880
const packedGroupRows = 10_240

/** Of the conditions that choose no file, each is taken to keep this share of the rows. */
const keptShare = 0.1
const conditionsMax = 3

interface PageSize {
  readonly rows: number
  readonly columns: number
}

/** The cost of a page in one form, whose rows are those of the other form. */
export function costOfPage(form: Choice, other: Choice, page: PageSize): number {
  const [own, least] = [rowsOf(form), Math.min(rowsOf(form), rowsOf(other))]
  if (least === 0) return 0
  const matching = page.rows / keptShare ** conditions(form)
  return costOfRows(form, Math.min(own, (matching * own) / least), page.columns)
}

/** The cost of reading all rows of a form. */
export function costOfTotal(form: Choice, columns: number): number {
  return costOfRows(form, rowsOf(form), columns + conditions(form))
}

function rowsOf({ files }: Choice): number {
  return files.reduce((sum, { file }) => sum + file.rows, 0)
}

/** The columns with a condition that chooses no file. */
function conditions({ version, predicates }: Choice): number {
  const choosing = new Set([...version.key, version.history].map((column) => column?.name))
  const others = predicates.flatMap((each) => (each.kind === 'nothing' ? [] : each.column.name))
  const names = new Set(others.filter((name) => !choosing.has(name)))
  return Math.min(names.size, conditionsMax)
}

/** Reads files one after another until it has read so many rows, in whole row groups. */
function costOfRows({ version, files }: Choice, rows: number, columns: number): number {
  let [cost, left] = [0, rows]
  for (const { index, file } of files) {
    if (left <= 0) break
    const isPacked = version.dropped.length > 0 && index < version.files.length
    const groupRows = isPacked ? packedGroupRows : groupRowsMax
    const read = Math.min(file.rows, Math.ceil(left / groupRows) * groupRows)
    const groups = Math.ceil(read / groupRows)
    cost += costs.file + columns * (groups * costs.columnOfGroup + read * costs.value)
    left -= file.rows
  }
  return cost
}
