import { join, resolve } from 'node:path'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Cleanup } from '../harness/cleanup.js'
import { bareEnvironment, launcher, makeFolder, writeRegistry } from '../harness/fixture.js'
import { runVisibly } from '../harness/process.js'
import type { Run } from '../harness/script.js'
import { layoutOf, readFacts } from './facts.js'
import type { Facts } from './facts.js'

/** Which files are used, and which are made. */
interface DataOrder {
  readonly companies: number
  /** Null = generated. */
  readonly source: string | null
  /** Null = packed by the built product. */
  readonly packed: string | null
  /** Where files are made. */
  readonly folder: string
}

/** The files of both layouts, made where they are not given, and what they hold. */
export async function prepareData(order: DataOrder, run: Run): Promise<Facts> {
  const folder = await makeFolder(run, 'bench-data', { parent: order.folder })
  const source = resolve(order.source ?? join(folder, 'source'))
  if (order.source === null) {
    run.update(`making statements of ${order.companies} companies`)
    await generate(order.companies, source, run.cleanup)
  }
  const packed = resolve(order.packed ?? join(folder, 'packed'))
  if (order.packed === null) {
    run.update('packing them')
    const yearly = { ...statements(source), history: 'year' }
    await writeRegistry(folder, { yearly })
    await pack(folder, 'yearly', packed, run.cleanup)
  }
  run.update('reading what they hold')
  return readFacts(await layoutOf('yearly', source), await layoutOf('packed', packed))
}

/** The registry's entry of a folder of statements. */
export function statements(folder: string) {
  return { title: 'Statements', files: `${folder}/*.parquet`, key: ['inn', 'year'] }
}

/** Makes statements of so many companies, a file a year. */
export function generate(companies: number, out: string, cleanup: Cleanup): Promise<void> {
  const script = fileURLToPath(new URL('../generate-financials.ts', import.meta.url))
  const argv = ['--import', 'tsx', script, '--companies', String(companies), '--out', out]
  return runVisibly({ argv, env: bareEnvironment() }, cleanup)
}

/** Packs a dataset of a folder's registry with the built product. */
export function pack(
  folder: string,
  dataset: string,
  out: string,
  cleanup: Cleanup,
  watch?: (child: ChildProcess) => void,
): Promise<void> {
  const registry = ['--registry', join(folder, 'registry.yaml')]
  const argv = [launcher, 'dataset', 'pack', dataset, '--to', out, ...registry]
  return runVisibly({ argv, env: bareEnvironment() }, cleanup, watch)
}
