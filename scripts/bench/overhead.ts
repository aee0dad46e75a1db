import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { median } from '../harness/statistics.js'
import type { Cleanup } from '../harness/cleanup.js'
import { writeRegistry } from '../harness/fixture.js'
import { statements } from './bench-data.js'
import type { Contestant } from './contestant.js'
import type { Facts } from './facts.js'
import { lookUpOf } from './questions.js'
import type { Question } from './questions.js'
import { startWorker } from '../harness/worker.js'

/** What `reader-child.ts` takes. */
export type ReaderOrder =
  | { readonly kind: 'open'; readonly registry: string; readonly dataset: string }
  | { readonly kind: 'ask'; readonly question: Question }

export interface ReaderReply {
  readonly ms: number
  /** Of the whole process. */
  readonly cpuMs: number
  readonly rows: number
}

/** Medians of the same look-ups, asked in turns; of the overhead, of each pair's difference. */
export interface Overhead {
  readonly asked: number
  readonly httpMs: number
  /** Through the product's own engine in a loop. */
  readonly engineMs: number
  readonly overheadMs: number
}

/** More than a workload has, because the difference is small. */
const asks = 300

/** Measures what a look-up costs outside the engine. */
export async function measureOverhead(
  facts: Facts,
  das: Contestant,
  cleanup: Cleanup,
  cores: string | null = null,
): Promise<Overhead> {
  const reader = startWorker<ReaderOrder, ReaderReply>(
    new URL('reader-child.ts', import.meta.url),
    cleanup,
    cores,
  )
  // A registry of its own: this process opens the copy's files alone.
  const folder = join(facts.fixture.folder, 'engine')
  await mkdir(folder, { recursive: true })
  await writeRegistry(folder, { packed: statements(facts.packed.folder) })
  const registry = join(folder, 'registry.yaml')
  await reader.send({ kind: 'open', registry, dataset: 'packed' })
  const [http, engine]: [number[], number[]] = [[], []]
  // The first half is not counted: it opens the files that the second half finds open.
  for (let round = 0; round < 2 * asks; round += 1) {
    const question = lookUpOf(facts, round % asks)
    const askHttp = async () => {
      const { ms, rows } = await das.ask(question, null)
      http.push(ms)
      return rows.length
    }
    const askEngine = async () => {
      const { ms, rows } = await reader.send({ kind: 'ask', question })
      engine.push(ms)
      return rows
    }
    const turns = round % 2 === 0 ? [askHttp, askEngine] : [askEngine, askHttp]
    const counts: number[] = []
    for (const turn of turns) counts.push(await turn())
    if (counts[0] !== counts[1]) throw new Error('the server and its engine find different rows')
  }
  const [httpTimes, engineTimes] = [http.slice(asks), engine.slice(asks)]
  const differences = httpTimes.map((ms, at) => ms - (engineTimes[at] ?? NaN))
  return {
    asked: asks,
    httpMs: median(httpTimes),
    engineMs: median(engineTimes),
    overheadMs: median(differences),
  }
}
