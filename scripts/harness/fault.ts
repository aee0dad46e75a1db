import { setTimeout as sleep } from 'node:timers/promises'

/** A rule of the product is broken: the message is the counter-example. */
export class Fault extends Error {
  override readonly name = 'Fault'
}

interface Wait {
  readonly withinMs: number
  readonly everyMs?: number
}

const beforeMax = 60
const afterMax = 100

/** @throws Fault unless it is true */
export function demand(isTrue: boolean, otherwise: string): asserts isTrue {
  if (!isTrue) throw new Fault(otherwise)
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
    demand(performance.now() - startedMs <= withinMs, `not within ${withinMs} ms: ${what}`)
    await sleep(everyMs)
  }
}

/** Where a text differs from the expected one, with what is there; null where it does not. */
export function differenceOf(found: string, expected: string): string | null {
  if (found === expected) return null
  let at = 0
  while (found[at] === expected[at]) at++
  const around = (text: string) =>
    JSON.stringify(text.slice(Math.max(0, at - beforeMax), at + afterMax))
  return `at ${at}: ${around(found)} instead of ${around(expected)}`
}
