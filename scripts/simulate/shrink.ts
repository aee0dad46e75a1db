import type { PlannedEvent } from './plan.js'

/** The broken promise of a plan, or null; runs it. */
type Try = (plan: readonly PlannedEvent[]) => Promise<string | null>

/** Smaller plans that still break the promise; a try is a run. */
const triesMax = 120

/**
 * A smaller plan that breaks the same promise: without parts, then without single events, then
 * without kills. Each event keeps its own seed and time.
 */
export async function shrink(
  plan: readonly PlannedEvent[],
  broken: string,
  attempt: Try,
): Promise<readonly PlannedEvent[]> {
  let best = plan
  let tries = 0
  const isBroken = async (smaller: readonly PlannedEvent[]) => {
    if (tries >= triesMax) return false
    tries += 1
    const found = await attempt(smaller)
    return found !== null && kindOf(found) === kindOf(broken)
  }
  for (let size = Math.ceil(plan.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < best.length;) {
      const smaller = [...best.slice(0, at), ...best.slice(at + size)]
      if (smaller.length > 0 && (await isBroken(smaller))) best = smaller
      else at += size
    }
  }
  for (const [at, event] of best.entries()) {
    if (event.kill === null) continue
    const calm = best.with(at, { ...event, kill: null, killNext: null })
    if (await isBroken(calm)) best = calm
  }
  return best
}

/** A promise without the names and numbers of one run. */
function kindOf(broken: string): string {
  return broken.replace(/\d+/g, 'N').slice(0, 80)
}
