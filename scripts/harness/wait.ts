import { setTimeout } from 'node:timers/promises'

const pauseMs = 100
const patienceMs = 30_000

/**
 * What `look` finds, as soon as it finds anything.
 * @throws Error naming what did not come in half a minute
 */
export async function eventually<T>(name: string, look: () => Promise<T | undefined>): Promise<T> {
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += pauseMs) {
    const found = await look()
    if (found !== undefined) return found
    await setTimeout(pauseMs)
  }
  throw new Error(`${name} did not come in ${patienceMs / 1000} s`)
}
