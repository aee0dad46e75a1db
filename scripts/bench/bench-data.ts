import { existsSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from '../harness/cleanup.js'
import {
  bareEnvironment,
  launcher,
  makeFixture,
  makeFolder,
  placeOptions,
  unlimited,
  writeRegistry,
} from '../harness/fixture.js'
import type { Fixture } from '../harness/fixture.js'
import { runVisibly } from '../harness/process.js'
import type { Run } from '../harness/script.js'
import { layoutOf, readFacts } from './facts.js'
import type { Facts } from './facts.js'

/** Which files are used, and which are made. */
interface DataOrder {
  readonly companies: number
  /** Null = generated. */
  readonly source: string | null
  /** The folder of registry, state and packed copy, used again; null = a new one. */
  readonly keep: string | null
  /** Where a new folder is made. */
  readonly folder: string
}

const keyColumns = ['inn', 'year']
/** What `das` names the dataset with the packed copy. */
const packedName = 'packed'

/**
 * The files of both layouts, made where they are not there, and what they hold. Two datasets serve
 * the same files: `yearly` as they are, `packed` with a packed copy beside them.
 */
export async function prepareData(order: DataOrder, run: Run): Promise<Facts> {
  const { companies, keep } = order
  const folder = resolve(keep ?? (await makeFolder(run, 'bench', { parent: order.folder })))
  const fixture = await makeFixture(folder)
  const source = resolve(order.source ?? join(folder, 'source'))
  if (!existsSync(source)) {
    run.update(`making statements of ${companies} companies`)
    await generate(companies, source, run.cleanup)
  }
  const entry = soldStatements(source)
  await writeRegistry(folder, { yearly: entry, [packedName]: entry })
  run.update('packing them')
  await pack(fixture, packedName, run.cleanup)
  run.update('reading what they hold')
  const yearly = await layoutOf('yearly', source)
  return readFacts(fixture, yearly, await layoutOf('packed', await copyIn(fixture)))
}

/** The folder of the newest packed copy. */
async function copyIn({ folder }: Fixture): Promise<string> {
  const versions = join(folder, 'state', 'versions', packedName)
  const names = await readdir(versions)
  const copies = names.map((name) => join(versions, name)).filter(isCopy)
  const [copy] = copies.sort((left, right) => statSync(right).mtimeMs - statSync(left).mtimeMs)
  if (copy === undefined) throw new Error(`no packed copy in ${versions}`)
  return copy
}

function isCopy(folder: string): boolean {
  return !folder.endsWith('.draft') && existsSync(join(folder, 'pack.json'))
}

/** The registry's entry of a folder of statements. */
export function statements(folder: string) {
  return { title: 'Statements', files: `${folder}/*.parquet`, key: keyColumns }
}

/** The same with a plan. */
export function soldStatements(folder: string) {
  return {
    ...statements(folder),
    history: 'year',
    require_filter: false,
    columns: { name: { search: true } },
    plans: { bench: unlimited },
  }
}

/** Makes statements of so many companies, a file a year. */
function generate(companies: number, out: string, cleanup: Cleanup): Promise<void> {
  const script = fileURLToPath(new URL('../generate-financials.ts', import.meta.url))
  const argv = ['--import', 'tsx', script, '--companies', String(companies), '--out', out]
  return runVisibly({ argv, env: bareEnvironment() }, cleanup)
}

/** Packs a dataset of a fixture with the built product. */
function pack(fixture: Fixture, dataset: string, cleanup: Cleanup): Promise<void> {
  const argv = [launcher, 'dataset', 'pack', dataset, ...placeOptions(fixture)]
  return runVisibly({ argv, env: bareEnvironment() }, cleanup)
}
