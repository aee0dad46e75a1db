import { Agent } from 'node:http'
import { ask } from './outcome.js'
import type { Subscriber } from './charges-fixture.js'
import type { Ledger } from './ledger.js'
import { drawQuestion } from './question.js'
import { randomOf } from '../harness/random.js'

/** Clients at work. */
export interface Crowd {
  /** No new request is begun from here on. */
  readonly stop: () => void
  /** Resolves when the next answer begins to arrive, at any client. */
  readonly nextAnswer: () => Promise<void>
  /** Resolves when every request has come to something. */
  readonly done: Promise<void>
}

interface CrowdOptions {
  readonly base: string
  readonly subscribers: readonly Subscriber[]
  readonly clients: number
  readonly ledger: Ledger
  /** They tell this crowd's questions from those of all others. */
  readonly seed: number
  readonly number: number
}

/** Lets clients ask for page after page, each over a connection of its own, until told to stop. */
export function startCrowd(options: CrowdOptions): Crowd {
  const { base, subscribers, clients, ledger, seed, number } = options
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const closing = new AbortController()
  let onAnswer = () => {}
  const target = { base, agent, onAnswer: () => onAnswer() }
  const nextAnswer = () =>
    new Promise<void>((resolve) => {
      onAnswer = resolve
    })
  const stop = () => closing.abort()
  const work = async (client: number) => {
    const random = randomOf(seed, number, client)
    while (!closing.signal.aborted) {
      const question = drawQuestion(random, subscribers)
      ledger.note(question, await ask(target, question))
    }
  }
  const all = Array.from({ length: clients }, (_, client) => work(client))
  const done = Promise.all(all).then(
    () => agent.destroy(),
    (cause: unknown) => {
      stop()
      agent.destroy()
      throw cause
    },
  )
  return { stop, nextAnswer, done }
}
