import { Agent } from 'node:http'
import { startClients } from '../harness/clients.js'
import type { Clients } from '../harness/clients.js'
import { randomOf } from '../harness/random.js'
import type { Subscriber } from './charges-fixture.js'
import type { Ledger } from './ledger.js'
import { ask } from './outcome.js'
import { drawQuestion } from './question.js'

/** Clients that read page after page. */
export interface Readers extends Clients {
  /** Resolves when the next answer begins to arrive, at any client. */
  readonly nextAnswer: () => Promise<void>
}

interface ReadersOptions {
  readonly base: string
  readonly subscribers: readonly Subscriber[]
  readonly clients: number
  readonly ledger: Ledger
  /** Both choose the questions. */
  readonly seed: number
  readonly number: number
}

/** Starts clients with a connection each; the ledger notes what they see. */
export function startReaders(options: ReadersOptions): Readers {
  const { base, subscribers, clients, ledger, seed, number } = options
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  let onAnswer = () => {}
  const nextAnswer = () =>
    new Promise<void>((resolve) => {
      onAnswer = resolve
    })
  const { stop, done } = startClients(clients, (client) => {
    const random = randomOf(seed, number, client)
    return async () => {
      const question = drawQuestion(random, subscribers)
      ledger.note(question, await ask({ base, agent, onAnswer: () => onAnswer() }, question))
    }
  })
  return { stop, nextAnswer, done: done.finally(() => agent.destroy()) }
}
