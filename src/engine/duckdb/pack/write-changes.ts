import { rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { machineClock } from '../../../clock.js'
import { typeText } from '../../../columns/data-type.js'
import type { DataType } from '../../../columns/data-type.js'
import {
  compareColumns,
  comparedColumns,
  keyProblem,
  setLayout,
} from '../../../versions/changes/change-set.js'
import type { ChangeSet, CompareRows } from '../../../versions/changes/change-set.js'
import type { InspectedKey } from '../../../versions/inspector.js'
import type { DataFile, Version } from '../../../versions/version.js'
import { cellSeparator } from '../../rows/write-row-copy.js'
import { encodeCell, textOf } from '../../sql/encode.js'
import { literal } from '../../sql/quote.js'
import { chooseFiles } from '../choice.js'
import { duckdb } from '../dialect.js'
import { differencesSql, isOneRow } from '../differences.js'
import { countKeys } from '../inspect/inspect-keys.js'
import { foldersOf, targetSql } from '../paths.js'
import { withPlainPaths } from '../plain-paths.js'
import { selectRows } from '../read/compile.js'
import { SqlParameters } from '../read/condition.js'
import { planCount } from '../read/pieces.js'
import { readUnchanged } from '../read/unchanged.js'
import type { RunStatement, Statement } from '../run-statement.js'
import { ServingInstance } from '../serving.js'
import { hashParts, layoutSql, readSql } from './pack-sql.js'

/** Rows that a page of changes skips together. */
const rowGroupRows = 4096
/** The file that is only read once is written faster. */
const sortedGroupRows = 16_384

/**
 * Compares versions by their keys on threads of low priority. Rows that differ are found by a hash
 * of 64 bits: a change is missed with a chance of about 2⁻⁶⁴. What does not fit in memory spills.
 */
export function duckDbComparer(memoryLimitBytes: number): CompareRows {
  return ({ before, after, target, tempFolder }, signal) =>
    withPlainPaths(async (paths) => {
      const files = [...before.files, ...after.files]
      const serving = new ServingInstance({
        clock: machineClock,
        folders: [...foldersOf(files.map(({ path }) => path)), dirname(target)],
        tempFolder,
        memoryLimitBytes,
        threads: availableParallelism(),
        hasLowPriority: true,
      })
      const run: RunStatement = (statement) =>
        serving.run(
          (session) => session.runOnce(statement, signal),
          () => true,
        )
      try {
        return await readUnchanged(files, null, () =>
          compare(paths.version(before), paths.version(after), target, run),
        )
      } finally {
        await serving.close()
      }
    })
}

async function compare(
  before: Version,
  after: Version,
  target: string,
  run: RunStatement,
): Promise<ChangeSet> {
  const problem = keyProblem(after) ?? (await rowsProblem(after, run))
  if (problem !== null) return { kind: 'none', reason: problem, isKeyless: true }
  const none = (reason: string) => ({ kind: 'none', reason, isKeyless: false }) as const
  const compared = comparedColumns(before, after)
  const isKept = after.key.every((column) =>
    compared.some((each) => each.column === column && !each.isAdded),
  )
  if (!isKept) return none('the key has other columns or types than before')
  const old = await rowsProblem({ ...before, key: after.key }, run)
  if (old !== null) return none(`of the version before: ${old}`)
  const sorted = `${target}.sorted`
  let rows: unknown
  try {
    const [written] = await run(compileChanges(before, after, sorted))
    rows = written?.[0]
    await run(compileCells(before, after, { sorted, target }))
  } finally {
    await rm(sorted, { force: true })
  }
  return {
    kind: 'ready',
    layout: setLayout,
    path: target,
    rows: Number(rows),
    sources: compared.map(({ column }) => column.source),
    key: after.key.map(({ source }) => source),
    columns: compareColumns(before, after),
    newestBefore: before.newestHistory === undefined ? null : String(before.newestHistory),
  }
}

async function rowsProblem(version: Version, run: RunStatement): Promise<string | null> {
  const keys = await countKeys(version, run)
  return keys && sharedKeyText(version, keys)
}

/** Why the rows of a version can't be told apart by its key; null if they can. */
function sharedKeyText({ key }: Version, keys: InspectedKey): string | null {
  const empty = key.find((_, index) => (keys.emptyRows[index] ?? 0) > 0)
  if (empty) return `rows have no value in the key column "${empty.name}"`
  return keys.sharingRows > 0 ? `${keys.sharingRows} rows share their key with another row` : null
}

/**
 * Writes the rows of both versions whose key differs: by key, before and after. Files that both
 * have hold no such row, because the key is unique.
 */
function compileChanges(before: Version, after: Version, target: string): Statement {
  const compared = comparedColumns(before, after)
  const known = new Set(before.columns.map(({ source }) => source))
  const hasNewNames = compared.some(({ column, isAdded }) => isAdded && known.has(column.source))
  const shared = hasNewNames ? new Set<string>() : sharedFiles(before, after)
  const parameters = new SqlParameters()
  const rowsOf = (version: Version, isBefore: boolean) => {
    const choice = chooseFiles(version, [])
    const files = choice.files.filter(({ file }) => !shared.has(contentOf(file)))
    const cells = (sqlOf: (column: Version['columns'][number]) => string) =>
      compared.map(({ column, isAdded }, index) => {
        const empty = `CAST(NULL AS ${typeText(column.type)})`
        const sql = isBefore && isAdded ? empty : sqlOf(column)
        return `${storedSql(column.type, sql)} AS c${index}`
      })
    const selects = planCount({ ...choice, files }).map((scan) =>
      selectRows(scan, [], parameters, (sqlOf) => cells(sqlOf).join(', ')),
    )
    const nothing = cells(({ type }) => `CAST(NULL AS ${typeText(type)})`)
    return selects.join(' UNION ALL ') || `SELECT ${nothing.join(', ')} WHERE false`
  }
  const key = keyPlaces(after, compared).map((place) => `c${place}`)
  const parts = hashedParts(compared).flat()
  const keys = key.join(', ')
  const hashed = (rows: string) =>
    `(SELECT ${keys}, hash(${parts.join(', ')}) AS hash FROM ${rows})`
  const changed = `(SELECT ${keys} FROM ${hashed('old')} AS o FULL JOIN ${hashed('new')} AS n
      USING (${keys}) WHERE o.hash IS DISTINCT FROM n.hash)`
  const [old, now] = [rowsOf(before, true), rowsOf(after, false)]
  const sql = `COPY (
    WITH old AS NOT MATERIALIZED (${old}), new AS NOT MATERIALIZED (${now}),
      changed AS MATERIALIZED ${changed}
    SELECT 0::TINYINT AS side, * FROM old SEMI JOIN changed USING (${keys})
    UNION ALL SELECT 1::TINYINT AS side, * FROM new SEMI JOIN changed USING (${keys})
    ORDER BY ${keys}, side
  ) TO ${targetSql(target)} ${layoutSql(sortedGroupRows, 'DICTIONARY_SIZE_LIMIT 0, ')}`
  return { sql, values: parameters.values }
}

type Compared = ReturnType<typeof comparedColumns>

/** Where the columns of the key are among those that are compared. */
function keyPlaces({ key }: Version, compared: Compared): readonly number[] {
  return key.map((column) => compared.findIndex((each) => each.column === column))
}

/** What is hashed of each column. */
function hashedParts(compared: Compared): readonly (readonly string[])[] {
  return compared.map(({ column: { type } }, index) =>
    hashParts(`c${index}`, isStoredAsText(type) ? { kind: 'scalar', name: 'VARCHAR' } : type),
  )
}

/**
 * Writes the sorted rows once more, with their differences and cells. Each row is compared with the
 * ones beside it, so that this takes little memory.
 */
function compileCells(
  before: Version,
  after: Version,
  { sorted, target }: { readonly sorted: string; readonly target: string },
): Statement {
  const compared = comparedColumns(before, after)
  const differs = (sql: string) => `${sql} IS DISTINCT FROM lag(${sql}) OVER ()`
  const keyDiffers = keyPlaces(after, compared).map((place) => differs(`c${place}`))
  const words = differencesSql([
    `(${keyDiffers.join(' OR ')})`,
    ...hashedParts(compared).map((parts) => `(${differs(`hash(${parts.join(', ')})`)})`),
  ])
  // The row after has the differences of both, unless it is of another key.
  const ofBoth = words.map((_, word) => {
    const own = `d${word}`
    return `CASE WHEN lead(${isOneRow}) OVER () THEN ${own}
      ELSE coalesce(lead(${own}) OVER (), ${own}) END AS ${own}`
  })
  const cells = compared.map(({ column }, index) =>
    encodeCell(duckdb, column, `CAST(c${index} AS ${typeText(column.type)})`),
  )
  const sql = `COPY (
    SELECT * REPLACE (${ofBoth.join(', ')}),
      concat(${cells.join(`, ${literal(cellSeparator)}, `)}) AS cells
    FROM (SELECT *, ${words.join(', ')} FROM ${readSql(sorted)})
  ) TO ${targetSql(target)} ${layoutSql(rowGroupRows, 'DICTIONARY_SIZE_LIMIT 0, ')}`
  return { sql }
}

/** The content of the files that both versions have, each once. */
function sharedFiles(before: Version, after: Version): ReadonlySet<string> {
  const known = new Set(before.files.map(contentOf))
  return new Set(after.files.map(contentOf).filter((content) => known.has(content)))
}

function contentOf({ contentHash, partition }: DataFile): string {
  return JSON.stringify([contentHash, [...partition]])
}

/** A value as a file of changes holds it: Parquet would round these integers. */
function storedSql(type: DataType, sql: string): string {
  return isStoredAsText(type) ? textOf(sql) : sql
}

function isStoredAsText(type: DataType): boolean {
  return typeText(type).includes('HUGEINT')
}
