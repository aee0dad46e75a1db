import { setTimeout as sleep } from 'node:timers/promises'
import { walk, questionOf } from './walks.js'
import type { Client } from './walks.js'
import { get } from './answer.js'
import { years } from './reload-fixture.js'
import { Fault } from './rows.js'

const lookEveryMs = 20

/**
 * Looks until it is so; how long that took, in milliseconds.
 * @throws Fault naming what did not come about
 */
export async function until(
  what: string,
  withinMs: number,
  look: () => Promise<boolean>,
): Promise<number> {
  const begin = performance.now()
  while (!(await look())) {
    if (performance.now() - begin > withinMs) throw new Fault(`not within ${withinMs} ms: ${what}`)
    await sleep(lookEveryMs)
  }
  return performance.now() - begin
}

/** Waits until answers come from what lies on the disk now; how long that took, in ms. */
export function untilServed(client: Client, withinMs: number): Promise<number> {
  const { things } = client.house
  return until('the newest files are served', withinMs, async () => {
    const sight = await walk(client, questionOf('get', { years, from: 7, to: 8 }, 10))
    return sight !== null && things.isNewest(sight)
  })
}

/** Waits until the server says so of what it makes of registry and files. */
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
