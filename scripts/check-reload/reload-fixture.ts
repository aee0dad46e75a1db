import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFixture, makeFolder, subscribe, unlimited, writeRegistry } from '../harness/fixture.js'
import type { Datasets, Fixture } from '../harness/fixture.js'
import type { Run } from '../harness/script.js'
import { Expectation } from './expectation.js'
import type { Writer } from './parquet.js'

/** A fixture with the datasets `things` and `other`, and what may be served of them. */
export interface ReloadFixture extends Fixture {
  readonly token: string
  readonly things: Expectation
  readonly other: Expectation
  readonly writer: Writer
}

/** Years of `things`, a file each. */
export const years = [2019, 2020, 2021, 2022, 2023] as const
export const rowsOfYear = 3000
/** The only year of `other`, which never changes. */
export const otherYear = 1

/** Makes the folder and sells a subscription to both datasets; a failed run keeps the folder. */
export async function makeReloadFixture(
  run: Pick<Run, 'cleanup' | 'log'>,
  writer: Writer,
  uid: number | null,
): Promise<ReloadFixture> {
  const fixture = await makeFixture(await makeFolder(run, 'check-reload', { isKept: true }), uid)
  const { folder } = fixture
  await mkdir(join(folder, 'data', 'things'))
  for (const year of years) await writer.write(pathOf(folder, year), rowsOfYear, year, 0)
  await writer.write(join(folder, 'data', 'other.parquet'), rowsOfYear, otherYear, 0)
  await writeRegistry(folder, entries(false))
  const { token } = await subscribe(fixture, ['things:all', 'other:all'])
  const first = years.map(() => 0)
  const things = new Expectation(years, first)
  return { ...fixture, token, things, other: new Expectation([otherYear], [0]), writer }
}

/** Where a year of `things` lies. */
export function pathOf(folder: string, year: number): string {
  return join(folder, 'data', 'things', `${year}.parquet`)
}

/** The registry's entries at the start of a run. */
export function entries(isPacked: boolean): Datasets {
  const both = { key: ['id', 'year'], require_filter: false, plans: { all: unlimited } }
  const limit = { default: 100, max: 1000 }
  const things = { title: 'Things', files: 'data/things/*.parquet', limit, ...both }
  return {
    things: { ...things, pack: isPacked ? 'auto' : 'off' },
    other: { title: 'Other', files: 'data/other.parquet', ...both },
  }
}
