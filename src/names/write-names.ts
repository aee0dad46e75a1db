import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { arraysTable, writeArray } from './file-arrays.js'
import { WrittenReadings } from './written-readings.js'
import { readingsOf } from './readings.js'

/** An entity under one of its names: a company that changed its name has several. */
export interface NamedEntity {
  /** The key as it is shown: `7708004767`. */
  readonly key: string
  /** As in the rows. */
  readonly name: string
  /** Bit i is set if rows of period i have this name; period 0 is the oldest of at most 52. */
  readonly periods: number
  /** The same of the rows in the demo subset; 0 for none. */
  readonly demoPeriods: number
  /** Larger first among equal matches, null last; the same in all names of a key. */
  readonly rank: number | null
  /** JSON text, returned with a match as it is. */
  readonly facts: string
}

/** One more name of an entity, from the owner. */
export interface Alias {
  /** As the key column's value is written in a filter. */
  readonly key: string
  readonly alias: string
}

/** The format of the file: `NameIndex` opens no other. */
export const nameIndexFormat = 2

/** A longer name is found by its beginning. */
const nameLettersMax = 1000

/** Pages of the file that SQLite keeps while it writes. */
const cacheKiB = 64 * 1024

const tables = `
  CREATE TABLE named (id INTEGER PRIMARY KEY, key TEXT NOT NULL, name TEXT NOT NULL,
    periods INTEGER NOT NULL, demo_periods INTEGER NOT NULL, rank REAL, facts TEXT NOT NULL);
  CREATE TABLE reading (id INTEGER PRIMARY KEY, named INTEGER NOT NULL, alias TEXT);
  ${arraysTable};
  PRAGMA user_version = ${nameIndexFormat}`

const keyIndex = 'CREATE INDEX named_key ON named (key, rank, periods, demo_periods)'

const inOrder = `SELECT id FROM (SELECT id, key, periods, max(rank) OVER (PARTITION BY key) AS best
  FROM named) ORDER BY best DESC NULLS LAST, key, periods DESC`

interface NamedRow {
  readonly key: string
  readonly name: string
  readonly periods: number
  readonly demo: number
}

/**
 * Writes the file that `NameIndex` opens, complete when the promise resolves. Entities may come in
 * any order. An alias whose key has no entity finds nothing. After a failure the file is of no use.
 *
 * @throws Error when the path exists.
 */
export async function writeNameIndex(
  path: string,
  entities: Iterable<NamedEntity> | AsyncIterable<NamedEntity>,
  aliases: readonly Alias[],
): Promise<void> {
  if (existsSync(path)) throw new Error('the file of a name index exists already')
  const db = new Database(path)
  try {
    db.pragma('journal_mode = OFF')
    db.pragma(`cache_size = -${cacheKiB}`)
    db.exec('BEGIN')
    db.exec(tables)
    const insert = db.prepare('INSERT INTO named VALUES (NULL, ?, ?, ?, ?, ?, ?)')
    for await (const { key, name, periods, demoPeriods, rank, facts } of entities) {
      insert.run(key, name, periods, demoPeriods, rank, facts)
    }
    db.exec(keyIndex)
    writeReadings(db, aliases)
    db.exec('COMMIT')
  } finally {
    db.close()
  }
}

/** Reads names in the order of rank, so that the lower number of two readings is the better one. */
function writeReadings(db: Database.Database, aliases: readonly Alias[]): void {
  const ids = Uint32Array.from(db.prepare<[], number>(inOrder).pluck().iterate())
  const rowOf = db.prepare<[number], NamedRow>(
    'SELECT key, name, periods, demo_periods AS demo FROM named WHERE id = ?',
  )
  const insert = db.prepare('INSERT INTO reading VALUES (?, ?, ?)')
  const more = new Map<string, string[]>()
  for (const { key, alias } of aliases) more.set(key, [...(more.get(key) ?? []), alias])
  const index = new WrittenReadings()
  let entity = -1
  let lastKey: string | null = null
  for (const id of ids) {
    const row = rowOf.get(id)
    if (!row) continue
    if (row.key !== lastKey) entity++
    lastKey = row.key
    for (const alias of [null, ...(more.get(row.key) ?? [])]) {
      for (const reading of readingsOf((alias ?? row.name).slice(0, nameLettersMax))) {
        insert.run(index.add(entity, row.periods, row.demo, reading), id, alias)
      }
    }
  }
  for (const [name, numbers] of index.finish()) writeArray(db, name, numbers)
}
