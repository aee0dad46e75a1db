import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inBatches } from '../../../src/versions/in-batches.js'
import { Fault } from '../../harness/fault.js'
import { unlimited, writeRegistry } from '../../harness/fixture.js'
import type { Random } from '../../harness/random.js'
import { rowsSql } from '../parts/rows.js'
import { servedMsMax, until } from './client.js'
import type { Client } from './client.js'
import { entries, pathOf, putRows, replace, replaceAll } from './fixture.js'
import type { ReloadFixture } from './fixture.js'

/** How long an ignored file stays: the server checks the folder more often. */
const ignoredMs = 600
const limitMaxLeast = 1000
/** So many files are not replaced between two checks of the server. */
const manyFiles = 50
/** Files that are replaced at the same time. */
const atOnce = 16
/** A year that no other file holds, so that removing the file restores what was. */
const badYear = 2099
const badLetters = 20_000

/** Replaces a year, or all (null) in turn; returns after how many milliseconds it is served. */
export async function refresh(client: Client, generation: number, only: number | null) {
  const { fixture } = client
  if (only === null) await replaceAll(fixture, generation)
  else await replace(fixture, only, generation)
  return client.untilServed()
}

/** Replaces all years at the same time; returns after how many milliseconds they are served. */
export async function refreshAtOnce(client: Client, generation: number): Promise<number> {
  const { fixture } = client
  const { table, things } = fixture
  const done = things.willHoldAll(generation)
  const write = (year: number) => putRows(fixture, year, rowsSql(table, year, generation))
  await inBatches(table.years, write, atOnce)
  done()
  return client.untilServed()
}

/**
 * Edits the registry by rename, which removes nothing that the clients use, and waits until the
 * server follows it.
 */
export async function edit(client: Client, isPacked: boolean, number: number, random: Random) {
  const { folder, files } = client.fixture
  const { things = {}, other = {} } = entries(files, isPacked)
  const kind = random.whole(0, 5)
  const plan = { ...unlimited, price_rub: number }
  const changed = {
    ...things,
    description: `edit ${number}.`,
    ...(kind === 0 && { title: `Things ${number}` }),
    ...(kind === 1 && { plans: { all: plan } }),
    ...(kind === 2 && { plans: { all: unlimited, [`new-${number}`]: plan } }),
    ...(kind === 3 && { limit: { default: 100, max: limitMaxLeast + number } }),
    ...(kind === 4 && { columns: { value: { description: `Value ${number}` } } }),
  }
  const extra = { title: 'Extra', files: 'data/other.parquet', description: String(number) }
  await writeRegistry(folder, { things: changed, other, ...(kind === 5 && { extra }) })
  await until(`the registry's edit ${number} is followed`, servedMsMax, async () =>
    (await client.text('/v1/things/schema')).includes(`"edit ${number}."`),
  )
}

/** A file that can't be served, and how it is dropped and removed. */
interface BadFile {
  readonly name: string
  readonly drop: (fixture: ReloadFixture) => Promise<void>
  /** The server ignores it. */
  readonly isIgnored?: true
  /** It is in every file, of which the server must not see some without the others. */
  readonly ofAll?: true
}

const badFiles: readonly BadFile[] = [
  bytes('half written', (whole) => whole.subarray(0, whole.length / 2)),
  bytes('garbage between the marks', () => Buffer.from(`PAR1${'x'.repeat(badLetters)}PAR1`)),
  bytes('without its middle', (whole) =>
    Buffer.concat([whole.subarray(0, whole.length / 4), whole.subarray(whole.length / 2)]),
  ),
  {
    name: 'another type in a column',
    drop: (fixture) => {
      const rows = `FROM (${rowsSql(fixture.table, badYear, 0)})`
      return putRows(fixture, badYear, `SELECT * REPLACE ('x' || value AS value) ${rows}`)
    },
  },
  bytes('empty', () => Buffer.alloc(0)),
  bytes('not Parquet', () => Buffer.from('id,year\n1,2099\n')),
  { name: 'a folder', isIgnored: true, drop: ({ files }) => files.putFolder(badYear) },
  { name: 'a column missing', ofAll: true, drop: dropColumn },
]

function bytes(name: string, of: (whole: Buffer) => Uint8Array): BadFile {
  const drop = async ({ folder, files, table }: ReloadFixture) => {
    const draft = join(folder, 'data', 'bad.draft')
    await writeFile(draft, of(await files.read(table.years[0] ?? 0)))
    await files.put(badYear, draft)
  }
  return { name, drop }
}

/** From all files, because one file may lack a column. */
async function dropColumn({ folder, writer, files, table }: ReloadFixture): Promise<void> {
  const draftOf = (year: number) => join(folder, 'data', `${year}.draft`)
  for (const year of table.years) {
    const rows = rowsSql(table, year, 0)
    await writer.copy(draftOf(year), `SELECT * EXCLUDE (label) FROM (${rows})`)
  }
  for (const year of table.years) await files.put(year, draftOf(year))
}

/** Drops a bad file, waits until the server has checked it, and removes it. */
export async function dropBad(client: Client, number: number, generation: number): Promise<void> {
  const { fixture } = client
  const usable = badFiles.filter(({ ofAll }) => !ofAll || fixture.table.years.length < manyFiles)
  const bad = usable[number % usable.length]
  if (!bad) throw new RangeError('no bad file')
  await bad.drop(fixture)
  if (bad.isIgnored) await sleep(ignoredMs)
  else {
    await client.untilReload('refused').catch((cause: unknown) => {
      throw cause instanceof Fault ? new Fault(`${cause.message} (${bad.name})`) : cause
    })
  }
  if (bad.ofAll) await replaceAll(fixture, generation)
  else await fixture.files.remove(badYear)
  await client.untilServed()
  await client.untilReload('ok')
}

/** How a file is overwritten in place. */
export interface Overwrite {
  readonly name: string
  /** The file is truncated first; else old bytes stay until they are overwritten. */
  readonly isEmptied: boolean
  readonly pieces: number
  readonly pauseMs: number
}

export const overwrites: readonly Overwrite[] = [
  { name: 'emptied, written at once', isEmptied: true, pieces: 1, pauseMs: 0 },
  { name: 'written over at once', isEmptied: false, pieces: 1, pauseMs: 0 },
  { name: 'emptied, written slowly', isEmptied: true, pieces: 20, pauseMs: 100 },
  { name: 'written over slowly', isEmptied: false, pieces: 30, pauseMs: 100 },
  { name: 'written over for a long time', isEmptied: false, pieces: 130, pauseMs: 100 },
]

/**
 * Writes a year's rows of a generation over the file that holds the earlier ones; `onWrite` gets the
 * milliseconds from one write to the next, of which a busy machine makes more than intended.
 */
export async function overwrite(
  { folder, things, writer, table }: ReloadFixture,
  year: number,
  generation: number,
  { isEmptied, pieces, pauseMs }: Overwrite,
  onWrite: (sinceMs: number) => void,
): Promise<void> {
  const draft = join(folder, 'data', 'overwrite.draft')
  await writer.copy(draft, rowsSql(table, year, generation))
  const content = await readFile(draft)
  await rm(draft)
  things.willHold(year, generation)
  const path = pathOf(folder, year)
  if (pieces === 1 && isEmptied) return writeFile(path, content)
  await using file = await open(path, isEmptied ? 'w' : 'r+')
  const step = Math.ceil(content.length / pieces)
  let wroteMs = performance.now()
  for (let start = 0; start < content.length; start += step) {
    await file.write(content, start, Math.min(step, content.length - start), start)
    onWrite(performance.now() - wroteMs)
    wroteMs = performance.now()
    await sleep(pauseMs)
  }
  await file.truncate(content.length)
  onWrite(performance.now() - wroteMs)
}
