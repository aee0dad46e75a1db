import { eventually } from '../harness/wait.js'
import { get } from './answer.js'
import { years } from './reload-fixture.js'
import { questionOf, walk } from './walks.js'
import type { Client } from './walks.js'

/**
 * Waits until a check is true; returns how long that took, in milliseconds.
 * @throws Fault naming what did not happen in time
 */
export async function until(
  what: string,
  withinMs: number,
  check: () => Promise<boolean>,
): Promise<number> {
  const startedMs = performance.now()
  await eventually(what, { withinMs }, async () => ((await check()) ? true : undefined))
  return performance.now() - startedMs
}

/** Waits until answers come from the files of now; returns how long that took, in milliseconds. */
export function untilServed(client: Client, withinMs: number): Promise<number> {
  const { things } = client.fixture
  return until('the newest files are served', withinMs, async () => {
    const evidence = await walk(client, questionOf('get', { years, from: 7, to: 8 }, 10))
    return evidence !== null && things.isNewest(evidence)
  })
}

/** Waits until `/readyz` reports this result of the last reload. */
export function untilReload(
  { target }: Client,
  state: 'ok' | 'refused',
  withinMs: number,
): Promise<number> {
  return until(`/readyz says reload: ${state}`, withinMs, async () => {
    const reply = await get(target, '/readyz')
    return reply?.text.includes(`"reload":"${state}"`) ?? false
  })
}
