import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from './world.js'

const waitMsMax = 240_000

/** Waits until the log has so many lines with a text, four minutes at most. */
export async function logged({ log }: World, text: string, times = 1): Promise<void> {
  const endsAt = performance.now() + waitMsMax
  while (log.filter((line) => line.includes(text)).length < times) {
    if (performance.now() > endsAt) throw new Error(`the log has no "${text}"`)
    await sleep(20)
  }
}
