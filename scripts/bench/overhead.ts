import { median } from '../harness/statistics.js'
import type { Ends } from '../harness/cleanup.js'
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

/** More than of a workload: the difference is small. */
const asks = 300

/** What everything that is not the engine costs a look-up. */
export async function measureOverhead(
  facts: Facts,
  das: Contestant,
  registry: string,
  ends: Ends,
): Promise<Overhead> {
  const reader = startWorker<ReaderOrder, ReaderReply>('reader-child', ends)
  await reader.tell({ kind: 'open', registry, dataset: das.dataset })
  const [http, engine]: [number[], number[]] = [[], []]
  // The first time that both are asked is not counted: afterwards both know every file.
  for (let round = 0; round < 2 * asks; round += 1) {
    const question = lookUpOf(facts, round % asks)
    const askHttp = async () => {
      const { ms, rows } = await das.ask(question, null)
      http.push(ms)
      return rows.length
    }
    const askEngine = async () => {
      const { ms, rows } = await reader.tell({ kind: 'ask', question })
      engine.push(ms)
      return rows
    }
    const turns = round % 2 === 0 ? [askHttp, askEngine] : [askEngine, askHttp]
    const counts: number[] = []
    for (const turn of turns) counts.push(await turn())
    if (counts[0] !== counts[1]) throw new Error('the server and its engine find other rows')
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
