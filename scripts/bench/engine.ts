import type { Cleanup } from '../harness/cleanup.js'
import type { Contestant, Row } from './contestant.js'
import type { Layout } from './facts.js'
import type { Place } from './messages.js'
import type { Question } from './questions.js'
import { startWorker } from '../harness/worker.js'
import type { Worker } from '../harness/worker.js'

/** What `engine-child.ts` takes. */
export type EngineOrder =
  | {
      readonly kind: 'open'
      readonly files: readonly string[]
      readonly columns: readonly string[]
    }
  | { readonly kind: 'ask'; readonly question: Question }
  | { readonly kind: 'walk'; readonly question: Question; readonly place: Place }
  | { readonly kind: 'load'; readonly questions: readonly Question[]; readonly seconds: number }

export interface EngineReply {
  readonly ms: number
  /** JSON texts. */
  readonly rows: readonly string[]
  readonly next: Place
  /** Of a load, one for each question that was answered. */
  readonly latenciesMs: readonly number[]
}

export type Engine = Worker<EngineOrder, EngineReply>

/** The bare engine over one layout, in a process of its own. */
export async function startEngine(
  layout: Layout,
  columns: readonly string[],
  cleanup: Cleanup,
  cores: string | null = null,
): Promise<Engine> {
  const worker = startWorker<EngineOrder, EngineReply>(
    new URL('engine-child.ts', import.meta.url),
    cleanup,
    cores,
  )
  await worker.send({ kind: 'open', files: layout.files, columns })
  return worker
}

/** The engine as a contestant: the time is measured in its own process. */
export function engineContestant(engine: Engine, dataset: Layout['name']): Contestant {
  return {
    name: `engine ${dataset}`,
    kind: 'engine',
    dataset,
    target: null,
    ask: async (question, place) => {
      const isWalk = place !== null || (question.inns.length === 0 && question.year === null)
      const { ms, rows, next } = await engine.send(
        isWalk ? { kind: 'walk', question, place } : { kind: 'ask', question },
      )
      // Each text is one row's object.
      return { ms, rows: rows.map((text) => JSON.parse(text) as Row), next }
    },
  }
}
