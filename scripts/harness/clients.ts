/** Clients that ask in a loop. */
export interface Clients {
  /** No new request begins from here on. */
  readonly stop: () => void
  /** Resolves when all have stopped; rejects with the first error, which stops the others too. */
  readonly done: Promise<void>
}

/** Lets each of `count` clients ask again and again until they are stopped. */
export function startClients(
  count: number,
  clientOf: (at: number) => () => Promise<void>,
): Clients {
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  const work = async (at: number) => {
    const ask = clientOf(at)
    while (!stopping.signal.aborted) await ask()
  }
  const done = Promise.all(Array.from({ length: count }, (_, at) => work(at))).then(() => undefined)
  done.catch(stop)
  return { stop, done }
}
