import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from './fault.js'

interface Wait {
  readonly withinMs: number
  readonly everyMs?: number
}

/**
 * Checks again and again; returns what the check finds first.
 * @throws Fault naming what did not happen in time
 */
export async function eventually<T>(
  what: string,
  { withinMs, everyMs = 20 }: Wait,
  check: () => Promise<T | undefined>,
): Promise<T> {
  const startedMs = performance.now()
  for (;;) {
    const found = await check()
    if (found !== undefined) return found
    if (performance.now() - startedMs > withinMs) {
      throw new Fault(`not within ${withinMs} ms: ${what}`)
    }
    await sleep(everyMs)
  }
}
