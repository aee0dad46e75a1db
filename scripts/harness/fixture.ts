import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readFile, rename } from 'node:fs/promises'
import { rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { parseDocument } from 'yaml'
import { Fault } from './fault.js'
import { runProgram, startServer } from './process.js'
import type { Server, ServerStart } from './process.js'
import type { Cleanup, Run } from './script.js'

/** A folder with a registry and a server's state, and where a script needs them, data. */
export interface Fixture {
  readonly folder: string
  /** The user that runs the server and its commands; null = the one that runs the script. */
  readonly uid: number | null
}

/** A subscription that a script has sold itself. */
export interface Sold {
  readonly subscription: string
  readonly token: string
}

/** Datasets of a registry by name. */
export type Datasets = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The built command line. */
export const launcher = resolve('dist', 'das.cjs')

/** A plan that no run uses up and no rate slows down. */
export const unlimited = {
  rows_per_month: 1e15,
  history: 'all',
  price_rub: 0,
  rate_per_minute: 1e9,
} as const

const Created = Type.Object({ subscription: Type.String(), token: Type.String() })
/** Of a command. */
const msMax = 3_600_000

interface FolderOptions {
  /** Where it is made; the system's temporary folder where it is left out. */
  readonly parent?: string
  /** A failed script keeps it and names it. */
  readonly isKept?: boolean
}

/** A new folder, which the clean-up removes. */
export async function makeFolder(
  { cleanup, log }: Pick<Run, 'cleanup' | 'log'>,
  name: string,
  { parent = tmpdir(), isKept = false }: FolderOptions = {},
): Promise<string> {
  const folder = await mkdtemp(join(resolve(parent), `das-${name}-`))
  cleanup.add(async (ending) => {
    if (isKept && ending === 'failed') log(`the folder is kept: ${folder}`)
    else await rm(folder, { recursive: true, force: true })
  })
  return folder
}

/** Makes a folder with `data` and `state`, unless they are there; a server of another user can write to `state` alone. */
export async function makeFixture(folder: string, uid: number | null = null): Promise<Fixture> {
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o755)
  await mkdir(join(folder, 'data'), { recursive: true })
  await mkdir(join(folder, 'state'), { mode: 0o700, recursive: true })
  if (uid !== null) await chown(join(folder, 'state'), uid, uid)
  return { folder, uid }
}

/** Replaces the registry by rename. JSON is YAML too. */
export async function writeRegistry(
  folder: string,
  datasets: Datasets,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const path = join(folder, 'registry.yaml')
  await writeFile(`${path}.new`, JSON.stringify({ ...more, datasets }, null, 2))
  await rename(`${path}.new`, path)
}

/** Writes the shipped registry with one value changed, beside a link to the shipped data. */
export async function writeShippedRegistry(
  folder: string,
  path: readonly string[],
  value: unknown,
): Promise<void> {
  const registry = parseDocument(await readFile('registry.yaml', 'utf8'))
  registry.setIn(path, registry.createNode(value))
  await writeFile(join(folder, 'registry.yaml'), String(registry))
  await symlink(resolve('data'), join(folder, 'data'))
}

/**
 * Runs a command of the product over the fixture, with settings such as DAS_SMTP_URL; what it
 * printed.
 *
 * @throws Fault when it fails
 */
export async function das(
  { folder, uid }: Fixture,
  argv: readonly string[],
  settings: NodeJS.ProcessEnv = {},
): Promise<string> {
  const env = environmentOf(folder, settings)
  const { code, stdout, stderr } = await runProgram({ argv: [launcher, ...argv], env, uid }, msMax)
  if (code === 0) return stdout
  throw new Fault(`das ${argv.join(' ')} ended: ${code}: ${stdout}${stderr}`)
}

/** Sells a subscription to plans, each written as `dataset:plan`. */
export async function subscribe(
  fixture: Fixture,
  plans: readonly string[],
  more: readonly string[] = [],
  settings: NodeJS.ProcessEnv = {},
): Promise<Sold> {
  const chosen = plans.flatMap((plan) => ['--plan', plan])
  const argv = ['subscription', 'create', '--json', '--email', 'buyer@example.org']
  return Value.Parse(
    Created,
    JSON.parse(await das(fixture, [...argv, ...chosen, ...more], settings)),
  )
}

/** How a server is started over a fixture. */
export interface ServeOptions extends Partial<Omit<ServerStart, 'env'>> {
  readonly port?: string
  readonly settings?: NodeJS.ProcessEnv
}

/** Starts the built server over the fixture and waits until it listens. */
export function serve(
  { folder, uid }: Fixture,
  cleanup: Cleanup,
  { argv = [], port = '0', settings = {}, ...start }: ServeOptions = {},
): Promise<Server> {
  const all = [launcher, 'serve', '--host', '127.0.0.1', '--port', port, ...argv]
  return startServer({ uid, ...start, env: environmentOf(folder, settings), argv: all }, cleanup)
}

/** @throws Error where the product is not built */
export function requireBuild(): void {
  if (!existsSync(launcher)) throw new Error('dist/das.cjs is missing. Run: npm run build')
}

/** The environment without the settings that the caller made for a server of their own. */
export function bareEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('DAS_'))
  return Object.fromEntries(entries)
}

function environmentOf(folder: string, settings: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const place = { DAS_REGISTRY: join(folder, 'registry.yaml'), DAS_STATE: join(folder, 'state') }
  return { ...bareEnvironment(), ...place, ...settings }
}
