import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { putRows, replaceAll } from './reload-fixture.js'
import type { ReloadFixture } from './reload-fixture.js'
import { rowsSql } from '../parts/rows.js'

/** A file that can't be served, and how it is dropped and removed. */
export interface BadFile {
  readonly name: string
  /** False where the server ignores it. */
  readonly isRefused: boolean
  /** It is in every file, of which the server must not see some without the others. */
  readonly ofAll?: true
  readonly drop: (fixture: ReloadFixture) => Promise<void>
  /** Removes what was dropped, or replaces it by rows of this generation. */
  readonly remove: (fixture: ReloadFixture, generation: number) => Promise<void>
}

/** A year that no other file holds, so that removing the file restores what was. */
const badYear = 2099
const letters = 20_000

/** All kinds of bad files. */
export const badFiles: readonly BadFile[] = [
  bytes('half written', (whole) => whole.subarray(0, whole.length / 2)),
  bytes('garbage between the marks', () =>
    Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(letters, 'x'), Buffer.from('PAR1')]),
  ),
  bytes('without its middle', (whole) =>
    Buffer.concat([whole.subarray(0, whole.length / 4), whole.subarray(whole.length / 2)]),
  ),
  select('another type in a column', (rows) => `SELECT * REPLACE ('x' || value AS value) ${rows}`),
  bytes('empty', () => Buffer.alloc(0)),
  bytes('not Parquet', () => Buffer.from('id,year\n1,2099\n')),
  {
    name: 'a folder',
    isRefused: false,
    drop: ({ files }) => files.putFolder(badYear),
    remove,
  },
  { name: 'a column missing', isRefused: true, ofAll: true, drop: dropColumn, remove: replaceAll },
]

function remove({ files }: ReloadFixture): Promise<void> {
  return files.remove(badYear)
}

/** From all files, because one file may lack a column. */
async function dropColumn({ folder, writer, files, table }: ReloadFixture) {
  const draftOf = (year: number) => join(folder, 'data', `${year}.draft`)
  for (const year of table.years) {
    const rows = rowsSql(table, year, 0)
    await writer.copy(draftOf(year), `SELECT * EXCLUDE (label) FROM (${rows})`)
  }
  for (const year of table.years) await files.put(year, draftOf(year))
}

function bytes(name: string, of: (whole: Buffer) => Uint8Array): BadFile {
  const drop = async ({ folder, files, table }: ReloadFixture) => {
    const draft = join(folder, 'data', 'bad.draft')
    await writeFile(draft, of(await files.read(table.years[0] ?? 0)))
    await files.put(badYear, draft)
  }
  return { name, isRefused: true, drop, remove }
}

function select(name: string, of: (rows: string) => string): BadFile {
  const drop = (fixture: ReloadFixture) =>
    putRows(fixture, badYear, of(`FROM (${rowsSql(fixture.table, badYear, 0)})`))
  return { name, isRefused: true, drop, remove }
}
