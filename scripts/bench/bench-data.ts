import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bareEnvironment, launcher, writeRegistry } from '../check-reload/reload-fixture.js'
import type { Ends } from '../harness/cleanup.js'
import { layoutOf, readFacts } from './facts.js'
import type { Facts } from './facts.js'

export interface DataOrder {
  readonly companies: number
  /** Null = generated. */
  readonly source: string | null
  /** Null = packed by the built product. */
  readonly packed: string | null
  /** Where files are made. */
  readonly parent: string
}

/** The files of both layouts, made where they are not given, and what they hold. */
export async function prepareData(
  order: DataOrder,
  say: (words: string) => void,
  ends: Ends,
): Promise<Facts> {
  const folder = await mkdtemp(join(order.parent, 'das-bench-data-'))
  ends.add(() => rm(folder, { recursive: true, force: true }))
  const source = order.source ?? join(folder, 'source')
  if (order.source === null) {
    say(`making statements of ${order.companies} companies`)
    const script = fileURLToPath(new URL('../generate-financials.ts', import.meta.url))
    const what = ['--companies', String(order.companies), '--out', source]
    await runNode(['--import', 'tsx', script, ...what], ends)
  }
  const packed = order.packed ?? join(folder, 'packed')
  if (order.packed === null) {
    say('packing them')
    await pack(folder, source, packed, ends)
  }
  say('reading what they hold')
  return readFacts(await layoutOf('yearly', source), await layoutOf('packed', packed))
}

async function pack(folder: string, source: string, packed: string, ends: Ends): Promise<void> {
  const files = `${source}/*.parquet`
  const yearly = { title: 'Statements', files, key: ['inn', 'year'], history: 'year' }
  await writeRegistry({ folder }, { yearly })
  const registry = ['--registry', join(folder, 'registry.yaml')]
  await runNode(
    [launcher, 'dataset', 'pack', 'yearly', '--to', packed, '--no-switch', ...registry],
    ends,
  )
}

/** Runs a program to its end; what it prints goes to stderr. */
async function runNode(argv: readonly string[], ends: Ends): Promise<void> {
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 2, 2],
    env: bareEnvironment(),
  })
  const closed = once(child, 'close')
  ends.add(async () => {
    child.kill()
    await closed
  })
  const [code]: unknown[] = await closed
  if (code !== 0) throw new Error(`${argv.slice(0, 3).join(' ')} ended with ${String(code)}`)
}
