import { threadMs } from './thread-time.js'
import type { Answer } from './world.js'

/** The longest time that the event loop was held while the request was answered. */
export async function longestPause(
  ask: () => Promise<Answer>,
): Promise<[ms: number, answer: Answer]> {
  let longestMs = 0
  let last = threadMs()
  let isDone = false
  const turn = () => {
    const now = threadMs()
    longestMs = Math.max(longestMs, now - last)
    last = now
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const answer = await ask()
  isDone = true
  await new Promise((resolve) => setImmediate(resolve))
  return [longestMs, answer]
}
