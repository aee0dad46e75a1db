import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathOf, rowsOfYear, years } from './reload-fixture.js'
import type { House } from './reload-fixture.js'
import { rowsSql } from './rows.js'

/** A file that nobody can serve, and how it comes and goes. */
export interface BadFile {
  readonly name: string
  /** False where the server has no reason to say anything. */
  readonly isRefused: boolean
  readonly drop: (house: House) => Promise<void>
  /** Takes away what was dropped; a generation that it may put in its place. */
  readonly remove: (house: House, generation: number) => Promise<void>
}

/** A year that no other file holds: what is dropped is what is removed again. */
const badYear = 2099
const letters = 20_000

/** All kinds, one after the other. */
export const badFiles: readonly BadFile[] = [
  bytes('half written', (whole) => whole.subarray(0, whole.length / 2)),
  bytes('garbage between the marks', () =>
    Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(letters, 'x'), Buffer.from('PAR1')]),
  ),
  bytes('its middle missing', (whole) =>
    Buffer.concat([whole.subarray(0, whole.length / 4), whole.subarray(whole.length / 2)]),
  ),
  select('another type in a column', (rows) => `SELECT * REPLACE ('x' || value AS value) ${rows}`),
  bytes('no byte', () => Buffer.alloc(0)),
  bytes('not Parquet', () => Buffer.from('id,year\n1,2099\n')),
  {
    name: 'a folder',
    isRefused: false,
    drop: async ({ folder }) => {
      await mkdir(pathOf(folder, badYear))
    },
    remove,
  },
  { name: 'a column missing', isRefused: true, drop: dropColumn, remove: refresh },
]

async function remove({ folder }: House): Promise<void> {
  await rm(pathOf(folder, badYear), { recursive: true })
}

/** From all files: a column that one file lacks is empty there, which is allowed. */
async function dropColumn({ folder, writer }: House): Promise<void> {
  const draftOf = (year: number) => join(folder, 'data', `${year}.draft`)
  for (const year of years) {
    const rows = rowsSql(rowsOfYear, year, 0)
    await writer.copy(draftOf(year), `SELECT * EXCLUDE (label) FROM (${rows})`)
  }
  for (const year of years) await rename(draftOf(year), pathOf(folder, year))
}

async function refresh({ folder, things, writer }: House, generation: number): Promise<void> {
  for (const year of years) {
    things.willHold(year, generation)
    await writer.write(pathOf(folder, year), rowsOfYear, year, generation)
  }
}

function bytes(name: string, of: (whole: Buffer) => Uint8Array): BadFile {
  const drop = async ({ folder }: House) => {
    const whole = await readFile(pathOf(folder, years[0]))
    await writeFile(pathOf(folder, badYear), of(whole))
  }
  return { name, isRefused: true, drop, remove }
}

function select(name: string, of: (rows: string) => string): BadFile {
  const drop = async ({ folder, writer }: House) => {
    const draft = join(folder, 'data', 'bad.draft')
    await writer.copy(draft, of(`FROM (${rowsSql(rowsOfYear, badYear, 0)})`))
    await rename(draft, pathOf(folder, badYear))
  }
  return { name, isRefused: true, drop, remove }
}
