import type Database from 'better-sqlite3'

/** An array is stored in pieces, which SQLite reads without one large copy. */
const pieceBytes = 4 * 2 ** 20

/** The table that keeps arrays of numbers. */
export const arraysTable = `CREATE TABLE array
  (name TEXT, place INTEGER, bytes BLOB NOT NULL, PRIMARY KEY (name, place)) WITHOUT ROWID`

type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array

/** Stores an array under a name, in the machine's byte order. */
export function writeArray(db: Database.Database, name: string, numbers: Numbers): void {
  const insert = db.prepare('INSERT INTO array VALUES (?, ?, ?)')
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)
  insert.run(name, -1, Buffer.from(String(bytes.length)))
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    insert.run(name, at, Buffer.from(bytes.subarray(at, at + pieceBytes)))
  }
}

/** The bytes of the array stored under a name. */
export function readArray(db: Database.Database, name: string): ArrayBuffer {
  const sql = 'SELECT place, bytes FROM array WHERE name = ? ORDER BY place'
  let bytes = new Uint8Array(0)
  for (const piece of db.prepare<[string], Piece>(sql).iterate(name)) {
    if (piece.place < 0) bytes = new Uint8Array(Number(piece.bytes.toString()))
    else bytes.set(piece.bytes, piece.place)
  }
  return bytes.buffer
}

interface Piece {
  /** Where its bytes begin; -1 for the size of the array, as text. */
  readonly place: number
  readonly bytes: Buffer
}
