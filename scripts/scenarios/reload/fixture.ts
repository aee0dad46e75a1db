import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFixture, makeFolder, subscribe, writeRegistry } from '../../harness/fixture.js'
import type { Datasets, Fixture } from '../../harness/fixture.js'
import type { Bucket } from '../../harness/object-gateway.js'
import type { Run } from '../../harness/script.js'
import { rowsSql } from '../parts/rows.js'
import type { Table } from '../parts/rows.js'
import { entryOf } from '../parts/tables.js'
import type { Writer } from '../parts/tables.js'
import { Expectation } from './expectation.js'

/** Where the files of `things` are, one for each year. */
interface SourceFiles {
  /** For the registry. */
  readonly pattern: string
  /** Puts a written file into its place in one step, also over an earlier one. */
  readonly put: (year: number, draft: string) => Promise<void>
  readonly read: (year: number) => Promise<Buffer>
  readonly remove: (year: number) => Promise<void>
  /** Makes a folder where a file is expected. */
  readonly putFolder: (year: number) => Promise<void>
}

/** A fixture with the datasets `things` and `other`, and what may be served of them. */
export interface ReloadFixture extends Fixture {
  readonly token: string
  readonly table: Table
  readonly things: Expectation
  readonly other: Expectation
  readonly writer: Writer
  readonly files: SourceFiles
}

/** What a fixture is made of. */
interface Parts {
  readonly writer: Writer
  /** The user that runs the server; null = the one that runs the script. */
  readonly uid: number | null
  /** Where the files of `things` are; null = in the folder. */
  readonly bucket: Bucket | null
}

const objects = 200
const firstYear = 1801
const years = [2019, 2020, 2021, 2022, 2023]
const inFolder: Table = { name: 'things', years, rows: 3000, letters: 0 }
const inBucket: Table = {
  ...inFolder,
  years: Array.from({ length: objects }, (_, at) => firstYear + at),
  rows: 75,
}
/** It never changes. */
export const otherTable: Table = { name: 'other', years: [1], rows: 3000, letters: 0 }

/** Makes the folder and sells a subscription to both datasets; a failed run keeps the folder. */
export async function makeReloadFixture(
  run: Run,
  { writer, uid, bucket }: Parts,
): Promise<ReloadFixture> {
  const fixture = await makeFixture(await makeFolder(run, 'check-reload', { isKept: true }), uid)
  const { folder } = fixture
  await mkdir(join(folder, 'data', 'things'))
  const files = bucket ? bucketFiles(bucket) : folderFiles(folder)
  const table = bucket ? inBucket : inFolder
  for (const year of table.years) {
    await putRows({ folder, writer, files }, year, rowsSql(table, year, 0))
  }
  await writer.write(join(folder, 'data', 'other.parquet'), otherTable, 1, 0)
  await writeRegistry(folder, entries(files, false))
  const { token } = await subscribe(fixture, ['things:all', 'other:all'])
  const things = new Expectation(table.years, 0)
  const other = new Expectation(otherTable.years, 0)
  return { ...fixture, writer, files, table, token, things, other }
}

/** Files in a folder of the fixture. */
function folderFiles(folder: string): SourceFiles {
  const path = (year: number) => pathOf(folder, year)
  return {
    pattern: 'data/things/*.parquet',
    put: (year, draft) => rename(draft, path(year)),
    read: (year) => readFile(path(year)),
    remove: (year) => rm(path(year), { recursive: true }),
    putFolder: async (year) => {
      await mkdir(path(year))
    },
  }
}

/** Objects of a bucket. */
function bucketFiles(bucket: Bucket): SourceFiles {
  const key = (year: number) => `things/${year}.parquet`
  return {
    pattern: 's3://data/things/*.parquet',
    put: async (year, draft) => {
      await bucket.put(key(year), await readFile(draft))
      await rm(draft)
    },
    read: (year) => bucket.get(key(year)),
    remove: async (year) => {
      await bucket.remove(key(year))
      await bucket.remove(`${key(year)}/`)
    },
    putFolder: (year) => bucket.put(`${key(year)}/`, Buffer.alloc(0)),
  }
}

/** Where the file of a year is in a fixture's folder. */
export function pathOf(folder: string, year: number): string {
  return join(folder, 'data', 'things', `${year}.parquet`)
}

/**
 * Replaces all years, the last one first: a store lists from the first to the last while this goes
 * on, and so finds only what was there at one moment.
 */
export async function replaceAll(fixture: ReloadFixture, generation: number): Promise<void> {
  for (const year of [...fixture.table.years].reverse()) await replace(fixture, year, generation)
}

/** Replaces one year. */
export async function replace(
  fixture: ReloadFixture,
  year: number,
  generation: number,
): Promise<void> {
  fixture.things.willHold(year, generation)
  await putRows(fixture, year, rowsSql(fixture.table, year, generation))
}

/** Replaces the file of a year by one with the rows of a SELECT. */
export async function putRows(
  { folder, writer, files }: Pick<ReloadFixture, 'folder' | 'writer' | 'files'>,
  year: number,
  select: string,
): Promise<void> {
  const draft = join(folder, 'data', `${year}.draft`)
  await writer.copy(draft, select)
  await files.put(year, draft)
}

/** The registry's entries at the start of a run. */
export function entries({ pattern }: SourceFiles, isPacked: boolean): Datasets {
  const both = { ...entryOf(inFolder), key: ['id', 'year'] }
  const limit = { default: 100, max: 1000 }
  return {
    things: { ...both, files: pattern, limit, pack: isPacked ? 'auto' : 'off' },
    other: { ...both, files: 'data/other.parquet', pack: 'off' },
  }
}
