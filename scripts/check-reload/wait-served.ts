import { eventually } from '../harness/wait.js'
import { get } from './answer.js'
import { questionOf, walk } from './walks.js'
import type { Client } from './walks.js'

/** Far above what the server needs, for a machine that has other work. */
export const servedMsMax = 120_000

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
  const { fixture } = client
  const { things, years } = fixture
  return until('the newest files are served', withinMs, async () => {
    const evidence = await walk(
      client,
      questionOf(fixture, 'get', { years, from: 7, to: 8 }, 2 * years.length),
    )
    return evidence !== null && things.isNewest(evidence)
  })
}

/** Waits until `/readyz` reports this result of the last reload. */
export function untilReload(
  client: Client,
  state: 'ok' | 'refused',
  withinMs: number,
): Promise<number> {
  return until(`/readyz says reload: ${state}`, withinMs, () => saysReload(client, state))
}

/** Whether `/readyz` reports this result of the last reload. */
export async function saysReload({ target }: Client, state: 'ok' | 'refused'): Promise<boolean> {
  const reply = await get(target, '/readyz')
  return reply?.text.includes(`"reload":"${state}"`) ?? false
}
