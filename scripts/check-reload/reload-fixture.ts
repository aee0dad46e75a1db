import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Writer } from './parquet.js'
import { Truth } from './expectation.js'

/** A folder with data, a registry and a server's state. */
export interface House {
  readonly folder: string
  /** Who runs the server and its commands; null = who runs this. */
  readonly uid: number | null
  readonly token: string
  readonly things: Truth
  readonly other: Truth
  readonly writer: Writer
}

export interface Said {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

type Entry = Readonly<Record<string, unknown>>

/** Years of `things`, a file each. */
export const years = [2019, 2020, 2021, 2022, 2023] as const
export const rowsOfYear = 3000
/** The only year of `other`, which never changes. */
export const otherYear = 1

/** The built command line. */
export const launcher = resolve('dist', 'das.cjs')

const run = promisify(execFile)
const Created = Type.Object({ token: Type.String() })
const commandMsMax = 120_000

/** Makes the folder and sells a subscription to both datasets. */
export async function buildHouse(writer: Writer, uid: number | null): Promise<House> {
  const folder = await mkdtemp(join(tmpdir(), 'das-check-reload-'))
  // A server of another user reads here, and writes to its state alone.
  await chmod(folder, 0o755)
  await mkdir(join(folder, 'data', 'things'), { recursive: true })
  await mkdir(join(folder, 'state'), { mode: 0o700 })
  if (uid !== null) await chown(join(folder, 'state'), uid, uid)
  for (const year of years) await writer.write(pathOf(folder, year), rowsOfYear, year, 0)
  await writer.write(join(folder, 'data', 'other.parquet'), rowsOfYear, otherYear, 0)
  const things = new Truth(
    years,
    years.map(() => 0),
  )
  const house = { folder, uid, token: '', things, other: new Truth([otherYear], [0]), writer }
  await writeRegistry(house, entries(false))
  const plans = ['--plan', 'things:all', '--plan', 'other:all']
  const email = ['--email', 'buyer@example.org']
  const sold = await das(house, ['subscription', 'create', '--json', ...email, ...plans])
  if (sold.code !== 0) throw new Error(`nothing can be sold: ${sold.stderr}`)
  return { ...house, token: Value.Parse(Created, JSON.parse(sold.stdout)).token }
}

/** Where a year of `things` lies. */
export function pathOf(folder: string, year: number): string {
  return join(folder, 'data', 'things', `${year}.parquet`)
}

/** The registry's entries as a run begins; the rate and the quota never refuse. */
export function entries(isPacked: boolean): Readonly<Record<string, Entry>> {
  const plan = { rows_per_month: 1e15, history: 'all', price_rub: 0, rate_per_minute: 1e9 }
  const both = { key: ['id', 'year'], require_filter: false, plans: { all: plan } }
  const limit = { default: 100, max: 1000 }
  const things = { title: 'Things', files: 'data/things/*.parquet', limit, ...both }
  return {
    things: { ...things, pack: isPacked ? 'auto' : 'off' },
    other: { title: 'Other', files: 'data/other.parquet', ...both },
  }
}

/** Replaces the registry by rename. JSON is YAML too. */
export async function writeRegistry(
  { folder }: Pick<House, 'folder'>,
  datasets: Readonly<Record<string, Entry>>,
): Promise<void> {
  const path = join(folder, 'registry.yaml')
  await writeFile(`${path}.new`, JSON.stringify({ datasets }, null, 2))
  await rename(`${path}.new`, path)
}

/** The options by which every command finds the house. */
export function placeOptions({ folder }: Pick<House, 'folder'>): readonly string[] {
  return ['--registry', join(folder, 'registry.yaml'), '--state', join(folder, 'state')]
}

/** Whose process it is to be. */
export function ownerOf({ uid }: Pick<House, 'uid'>) {
  return uid === null ? {} : { uid, gid: uid }
}

/** The environment without settings that the caller made for a server of their own. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('DAS_'))
  return Object.fromEntries(entries)
}

/** Runs a command over the house to its end. */
export async function das(
  house: Pick<House, 'folder' | 'uid'>,
  argv: readonly string[],
): Promise<Said> {
  const place = argv[1] === 'reload' ? placeOptions(house).slice(2) : placeOptions(house)
  const options = { env: bareEnvironment(), timeout: commandMsMax, ...ownerOf(house) }
  try {
    return { code: 0, ...(await run(process.execPath, [launcher, ...argv, ...place], options)) }
  } catch (cause) {
    // What execFile rejects with when the program ended with another code than 0.
    const { code, stdout, stderr } = cause as Said
    if (typeof code !== 'number') throw cause
    return { code, stdout, stderr }
  }
}
