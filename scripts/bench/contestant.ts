import { Agent } from 'node:http'
import { ask } from './messages.js'
import type { BenchTarget, Place } from './messages.js'
import type { Question } from './questions.js'

export type Row = Readonly<Record<string, unknown>>

export interface Answer {
  readonly ms: number
  readonly rows: readonly Row[]
  /** Where a walk continues; null at its end. */
  readonly next: Place
}

/** A server, or the bare engine, that is measured. */
export interface Contestant {
  readonly name: string
  readonly kind: BenchTarget['kind'] | 'engine'
  readonly dataset: BenchTarget['dataset']
  /** Null for the engine, which is not a server. */
  readonly target: BenchTarget | null
  readonly ask: (question: Question, place: Place) => Promise<Answer>
}

const names = { das: 'das', fastapi: 'FastAPI', roapi: 'ROAPI' } as const

/** A server, asked over one connection that is kept open. */
export function httpContestant(target: BenchTarget): Contestant {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const { kind, dataset } = target
  return {
    name: `${names[kind]} ${dataset}`,
    kind,
    dataset,
    target,
    ask: async (question, place) => {
      const { ms, text } = await ask(agent, target, question, place)
      if (kind === 'das') {
        // A page as our contract defines it.
        const page = JSON.parse(text) as { data: readonly Row[]; next_cursor: Place }
        return { ms, rows: page.data, next: page.next_cursor }
      }
      // Both peers answer with an array of rows.
      const rows = JSON.parse(text) as readonly Row[]
      const next = String(Number(place ?? 0) + rows.length)
      return { ms, rows, next: rows.length < question.limit ? null : next }
    },
  }
}
