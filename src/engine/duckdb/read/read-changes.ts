import type { DuckDBBlobValue } from '@duckdb/node-api'
import { typeText } from '../../../columns/data-type.js'
import type { Column } from '../../../columns/column.js'
import type { Predicate } from '../../../columns/predicate.js'
import type { Changes } from '../../../query/changes.js'
import type { KeyPosition } from '../../../query/question.js'
import type { ReadySet } from '../../../versions/changes/change-set.js'
import type { Rows } from '../../engine.js'
import { cellSeparator } from '../../rows/write-row-copy.js'
import { condition } from '../../sql/condition.js'
import { textOf } from '../../sql/encode.js'
import { afterKey, keyOrder, keyTexts } from '../../sql/key-order.js'
import { bindBigint } from '../bind.js'
import { differSql } from '../differences.js'
import { duckdb } from '../dialect.js'
import { bindPaths, boundFilesSql } from '../paths.js'
import type { RunStatement } from '../run-statement.js'
import { SqlParameters } from './condition.js'

/** Rows of the first statement of a page, beside two for each change. */
const rowsMin = 64
/** Each further statement of a page reads so many times as many: few rows may be changes. */
const growth = 4

/** A row of a set that the caller sees. */
interface SeenRow {
  readonly key: readonly string[]
  /** Its place in time: even where it is the row before a version, odd where it is of one. */
  readonly event: number
  /** JSON texts, in the order of its file. */
  readonly cells: readonly string[]
}

/**
 * The changes after a key, as JSON, in the order of the key. A page costs what it reads: rows that
 * differ in what the question is about, until it is full.
 */
export async function readChanges(changes: Changes, run: RunStatement): Promise<Rows<KeyPosition>> {
  const { limit } = changes
  const writer = new ChangeWriter(changes)
  const found: Rows<KeyPosition>['rows'][number][] = []
  let { after } = changes
  for (let rowsMax = 2 * limit + rowsMin; ; rowsMax *= growth) {
    const rows = seenRows(await run(compileRows(changes, after, rowsMax)))
    const isLast = rows.length < rowsMax
    const keys = byKey(rows)
    // More rows of the last key may follow.
    if (!isLast) keys.pop()
    for (const ofKey of keys) {
      const text = writer.changeOf(ofKey)
      const position = { key: ofKey[0].key }
      if (text !== null) found.push({ encoded: Buffer.from(text, 'latin1'), position })
      if (found.length > limit) return { rows: found.slice(0, limit), hasMore: true }
      after = position
    }
    if (isLast) return { rows: found, hasMore: false }
  }
}

/** Whether all rows may have to be read for a page: most meet conditions on key and history. */
export function isSearchOf({ version: { key, history }, predicates }: Changes): boolean {
  const usual = history ? [...key, history] : key
  return !predicates.every((each) => isOfKey(each, usual))
}

/** The rows of a key, at least one. */
type RowsOfKey = readonly [SeenRow, ...SeenRow[]]

function byKey(rows: readonly SeenRow[]): RowsOfKey[] {
  const keys: [SeenRow, ...SeenRow[]][] = []
  for (const row of rows) {
    const last = keys.at(-1)
    if (last?.[0].key.every((text, index) => text === row.key[index])) last.push(row)
    else keys.push([row])
  }
  return keys
}

function seenRows([events = [], cells = [], ...key]: unknown[][]): readonly SeenRow[] {
  return events.map((event, index) => {
    const { buffer, byteOffset, byteLength } = (cells[index] as DuckDBBlobValue).bytes
    // Bytes as letters: texts are only compared and copied.
    const text = Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
    return {
      key: key.map((column) => String(column[index])),
      event: Number(event),
      cells: text.split(cellSeparator),
    }
  })
}

/** Writes the net change of keys; texts have a letter for each byte. */
class ChangeWriter {
  readonly #columns: readonly NamedCell[]
  readonly #counted: readonly NamedCell[]
  readonly #key: readonly NamedCell[]
  readonly #files: readonly ReadFiles[]

  constructor({ columns, counted, version, sets }: Changes) {
    this.#files = filesOf(sets)
    const named = (list: readonly Column[]) => list.map((column) => this.#named(column))
    this.#columns = named(columns)
    this.#counted = named(counted)
    this.#key = named(version.key)
  }

  /**
   * The first row before any change of a key, and the last row after all of them, each as far as
   * the caller sees it; null if nothing that counts differs.
   */
  changeOf(rows: RowsOfKey): string | null {
    const [first, last] = [rows[0], rows.at(-1) ?? rows[0]]
    const [wasSeen, isSeen] = [first.event % 2 === 0, last.event % 2 === 1]
    if (!wasSeen && !isSeen) return null
    if (!isSeen) return `{"change":"removed","fields":[],"row":${this.#rowText(this.#key, last)}}`
    const row = this.#rowText(this.#columns, last)
    if (!wasSeen) return `{"change":"added","fields":[],"row":${row}}`
    const differs = (cell: NamedCell) => this.#cell(cell, first) !== this.#cell(cell, last)
    const fields = this.#columns.filter(differs).map(({ name }) => name)
    const isCounted = this.#counted.length === 0 || this.#counted.some(differs)
    if (fields.length === 0 || !isCounted) return null
    return `{"change":"changed","fields":[${fields.join(',')}],"row":${row}}`
  }

  #rowText(columns: readonly NamedCell[], row: SeenRow): string {
    const members = columns.map((each) => `${each.name}:${this.#cell(each, row) || 'null'}`)
    return `{${members.join(',')}}`
  }

  #cell({ places }: NamedCell, { event, cells }: SeenRow): string {
    const set = Math.floor(event / 2)
    const files = this.#files.findIndex(({ newest, paths }) => set > newest - paths.length)
    return cells[places[files] ?? -1] ?? ''
  }

  #named({ name, source }: Column): NamedCell {
    return {
      name: Buffer.from(JSON.stringify(name)).toString('latin1'),
      places: this.#files.map(({ sources }) => sources.indexOf(source)),
    }
  }
}

/** A column: its name as JSON, and its place in the rows of each files. */
interface NamedCell {
  readonly name: string
  readonly places: readonly number[]
}

/**
 * The rows of the sets after a key that the caller sees, by key and event, without those of keys
 * that differ in a set only in what the question is not about: before it they were the same.
 */
function compileRows(changes: Changes, after: KeyPosition | null, limit: number) {
  const { version, columns, counted, predicates } = changes
  const parameters = new SqlParameters()
  const { key } = version
  const judging = predicates.filter((each) => !isOfKey(each, key))
  const judged = judgedBy(judging)
  const asked = [...columns, ...counted, ...judged]
  const rows = filesOf(changes.sets).map((files) => {
    const sqlOf = columnsOf(files)
    const selected = [
      ...key.map((column, index) => `${keySql(column, sqlOf)} AS k${index}`),
      ...judged.map((column, index) => `${sqlOf(column)} AS p${index}`),
    ]
    const places = asked.map(({ source }) => files.sources.indexOf(source))
    return `SELECT ${selected.join(', ')}, cells,
      2 * (${files.newest} - CAST(file_index AS BIGINT)) + side AS event
      FROM ${boundFilesSql(parameters.add(bindPaths(files.paths)))}
      WHERE ${differSql(places.filter((place) => place >= 0))}`
  })
  const nameOf = (column: Column) => nameIn(key, 'k', column)
  const ofKey = predicates.filter((each) => isOfKey(each, key))
  // All rows of a key meet a predicate of the key, or none does. Each value is bound once.
  const where = [
    ...(after ? [afterKey(key, after, nameOf, parameters)] : []),
    conditions(ofKey, nameOf, parameters),
    conditions(judging, (column) => nameIn(judged, 'p', column), parameters),
  ]
  const order = `${keyOrder(key)}, event`
  const sql = `SELECT event, encode(cells), ${keyTexts(duckdb, key.map(asKey))}
    FROM (SELECT * FROM (${rows.join(' UNION ALL ')}) WHERE ${where.join(' AND ')}
      ORDER BY ${order} LIMIT ${parameters.add(bindBigint(limit))})
    ORDER BY ${order}`
  return { sql, values: parameters.values }
}

/** The columns of predicates, each once. */
function judgedBy(predicates: readonly Predicate[]): readonly Column[] {
  const columns = predicates.flatMap((each) => (each.kind === 'nothing' ? [] : [each.column]))
  return [...new Map(columns.map((column) => [column.source, column])).values()]
}

/** What a column of a list is called in a statement. */
function nameIn(columns: readonly Column[], prefix: string, { source }: Column): string {
  return `${prefix}${columns.findIndex((each) => each.source === source)}`
}

function conditions(
  predicates: readonly Predicate[],
  nameOf: (column: Column) => string,
  parameters: SqlParameters,
): string {
  return predicates.map((each) => condition(each, nameOf, parameters)).join(' AND ') || 'true'
}

function isOfKey(predicate: Predicate, key: readonly Column[]): boolean {
  if (predicate.kind === 'nothing') return true
  return key.some(({ source }) => source === predicate.column.source)
}

/** Files of sets after one another that have the same columns. */
interface ReadFiles {
  /** The newest first: its types are the widest. */
  readonly paths: string[]
  /** The number of the set of the first one. */
  readonly newest: number
  /** The source of a column is null where callers did not know it then. */
  readonly sources: readonly (string | null)[]
}

/**
 * The files of sets, as few reads as can be: many versions may lie between. Without the columns
 * that only a later set shows: before it they were hidden, or not there.
 */
function filesOf(sets: readonly ReadySet[]): readonly ReadFiles[] {
  const added = new Set<string>()
  const found: ReadFiles[] = []
  for (const [newest, { path, columns, ...set }] of [...sets.entries()].reverse()) {
    const sources = set.sources.map((source) => (added.has(source) ? null : source))
    for (const { source } of columns.added) added.add(source)
    const later = found.at(-1)
    if (JSON.stringify(later?.sources) === JSON.stringify(sources)) later?.paths.push(path)
    else found.push({ paths: [path], newest, sources })
  }
  return found
}

/** SQL of the columns in files, in their types of today; null if they have no such column. */
function columnsOf({ sources }: ReadFiles): (column: Column) => string {
  return ({ source, type }) => {
    const index = sources.indexOf(source)
    return `CAST(${index < 0 ? 'NULL' : `c${index}`} AS ${typeText(type)})`
  }
}

/** Texts of a list of values have the order of texts. */
function keySql(column: Column, sqlOf: (column: Column) => string): string {
  return column.type.kind === 'enum' ? textOf(sqlOf(column)) : sqlOf(column)
}

function asKey(column: Column): Column {
  return column.type.kind === 'enum'
    ? { ...column, type: { kind: 'scalar', name: 'VARCHAR' } }
    : column
}
