import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFixture, makeFolder, subscribe, unlimited, writeRegistry } from '../harness/fixture.js'
import type { Datasets, Fixture } from '../harness/fixture.js'
import type { Bucket } from '../harness/object-gateway.js'
import type { Run } from '../harness/script.js'
import { Expectation } from './expectation.js'
import type { Writer } from './parquet.js'
import { rowsSql } from './rows.js'
import { bucketFiles, folderFiles } from './source-files.js'
import type { SourceFiles } from './source-files.js'

/** A fixture with the datasets `things` and `other`, and what may be served of them. */
export interface ReloadFixture extends Fixture {
  readonly token: string
  readonly things: Expectation
  readonly other: Expectation
  readonly writer: Writer
  readonly files: SourceFiles
  /** Years of `things`, a file each. */
  readonly years: readonly number[]
  readonly rowsOfYear: number
}

/** What a fixture is made of. */
interface Parts {
  readonly writer: Writer
  /** The user that runs the server; null = the one that runs the script. */
  readonly uid: number | null
  /** Where the files of `things` are; null = in the folder. */
  readonly bucket: Bucket | null
}

/** Years of `things` on the disk. */
export const years = [2019, 2020, 2021, 2022, 2023] as const
export const rowsOfYear = 3000
const objects = 200
const firstYear = 1801
const rowsOfObject = 75
/** The only year of `other`, which never changes. */
export const otherYear = 1

/** Makes the folder and sells a subscription to both datasets; a failed run keeps the folder. */
export async function makeReloadFixture(
  run: Pick<Run, 'cleanup' | 'log'>,
  { writer, uid, bucket }: Parts,
): Promise<ReloadFixture> {
  const fixture = await makeFixture(await makeFolder(run, 'check-reload', { isKept: true }), uid)
  const { folder } = fixture
  await mkdir(join(folder, 'data', 'things'))
  const files = bucket ? bucketFiles(bucket) : folderFiles(folder)
  const shape = bucket
    ? {
        years: Array.from({ length: objects }, (_, at) => firstYear + at),
        rowsOfYear: rowsOfObject,
      }
    : { years, rowsOfYear }
  const place = { folder, writer, files, ...shape }
  for (const year of shape.years) await writeYear(place, year, 0)
  await writer.write(join(folder, 'data', 'other.parquet'), rowsOfYear, otherYear, 0)
  await writeRegistry(folder, entries(files, false))
  const { token } = await subscribe(fixture, ['things:all', 'other:all'])
  const things = new Expectation(shape.years, 0)
  return { ...fixture, ...place, token, things, other: new Expectation([otherYear], 0) }
}

/**
 * Replaces all years, the last one first: a store lists from the first to the last while this goes
 * on, and so finds only what was there at one moment.
 */
export async function replaceAll(fixture: ReloadFixture, generation: number): Promise<void> {
  for (const year of [...fixture.years].reverse()) await replace(fixture, year, generation)
}

/** Replaces one year. */
export async function replace(
  fixture: ReloadFixture,
  year: number,
  generation: number,
): Promise<void> {
  fixture.things.willHold(year, generation)
  await writeYear(fixture, year, generation)
}

/** Writes the file of a year in a generation. */
export async function writeYear(
  place: Pick<ReloadFixture, 'folder' | 'writer' | 'files' | 'rowsOfYear'>,
  year: number,
  generation: number,
): Promise<void> {
  const rows = rowsSql(place.rowsOfYear, year, generation)
  await putRows(place, year, rows)
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
  const both = { key: ['id', 'year'], require_filter: false, plans: { all: unlimited } }
  const limit = { default: 100, max: 1000 }
  const things = { title: 'Things', files: pattern, limit, ...both }
  return {
    things: { ...things, pack: isPacked ? 'auto' : 'off' },
    other: { title: 'Other', files: 'data/other.parquet', ...both },
  }
}
