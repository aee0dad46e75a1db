import { readFile } from 'node:fs/promises'
import { globalAgent } from 'node:http'
import { join } from 'node:path'
import { openDuckDb, writeParquet } from '../../harness/duckdb.js'
import { subscribe, unlimited, writeRegistry } from '../../harness/fixture.js'
import type { Datasets, Sold } from '../../harness/fixture.js'
import { send } from '../../harness/http.js'
import { memoryOf } from '../../harness/process.js'
import { eventually } from '../../harness/wait.js'
import type { FaultCase, Site } from './site.js'

const memoryLimit = '100MB'
const largeRows = 3_000_000
const clients = 4
const holdMs = 4000

/** Adds a dataset whose groups don't fit into the memory of the engine, and sells it. */
async function addLarge(site: Site): Promise<Sold> {
  const { fixture } = site
  using duckdb = await openDuckDb()
  const select = `SELECT md5(i::VARCHAR) AS word FROM range(${largeRows}) t(i)`
  await writeParquet(duckdb, join(fixture.folder, 'large.parquet'), select)
  const { datasets } = JSON.parse(
    await readFile(join(fixture.folder, 'registry.yaml'), 'utf8'),
  ) as { datasets: Datasets }
  const large = {
    title: 'Large',
    files: 'large.parquet',
    require_filter: false,
    plans: { all: unlimited },
  }
  await writeRegistry(fixture.folder, { ...datasets, large })
  const sold = await subscribe(fixture, ['large:all'])
  await eventually('the large dataset is served', { withinMs: 120_000 }, async () =>
    (await ask(site, sold, '/v1/large?limit=1')) === 200 ? true : undefined,
  )
  return sold
}

async function ask({ server }: Site, { token }: Sold, path: string): Promise<number> {
  const target = { base: server.base, agent: globalAgent, token }
  return (await send(target, { method: 'GET', path, body: '' })).status
}

/** The engine has too little memory for what is asked. */
export const memoryFaults: readonly FaultCase[] = [
  {
    name: 'little memory',
    about: `${clients} clients ask for ${largeRows} groups where --memory-limit is ${memoryLimit}`,
    start: () => Promise.resolve({ argv: ['--memory-limit', memoryLimit] }),
    strike: async (site) => {
      const sold = await addLarge(site)
      const path = '/v1/large/aggregate?group=word&measures=count&limit=1'
      const ends: Record<string, number> = {}
      const untilMs = performance.now() + holdMs
      const client = async () => {
        while (performance.now() < untilMs) {
          const status = await ask(site, sold, path)
          ends[status] = (ends[status] ?? 0) + 1
        }
      }
      await Promise.all(Array.from({ length: clients }, client))
      const refused = Object.entries(ends).map(([status, number]) => `${number} × ${status}`)
      const peak = Math.round(memoryOf(site.server.child, 'VmHWM') / 1e6)
      site.notes.push(`large questions: ${refused.join(', ')}; peak memory ${peak} MB`)
    },
  },
]
