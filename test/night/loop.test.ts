import t from 'tap'
import { hostileRequests } from '../support/hostile-requests.js'
import { longestPause } from '../support/longest-pause.js'
import { startThings } from '../support/things.js'
import { threadMs } from '../support/thread-time.js'
import type { Answer } from '../support/world.js'

/** The longest pause, as a share of the time that `JSON.parse` takes for 1 MiB of numbers. */
const shareMax = 5
/** What is compiled or collected in one of them makes a pause longer: the shortest counts. */
const triesMax = 12

const numbers = `[${Array(520_000).fill('1').join()}]`

function parseMs(): number {
  const started = threadMs()
  JSON.parse(numbers)
  return threadMs() - started
}

// Guarantee: no request holds the event loop, and so every other client, for longer than parsing a
// few times as much would take.
await t.test('no request of up to 1 MiB holds the event loop', async (t) => {
  const world = await startThings(t)
  const { token } = await world.subscribe(['things:pro'])
  t.ok(hostileRequests.length >= 40, `${hostileRequests.length} requests`)
  const found: string[] = []
  for (const [name, request] of hostileRequests) {
    let [share, shortestMs] = [Infinity, Infinity]
    let answer: Answer | undefined
    for (let tries = 0; tries < triesMax && share > shareMax; tries++) {
      const unitMs = parseMs()
      const [ms, given] = await longestPause(() => world.get(request.url as string, token, request))
      shortestMs = Math.min(shortestMs, ms)
      share = Math.min(share, ms / unitMs)
      answer = given
    }
    t.ok(share <= shareMax, `${name}: ${share.toFixed(1)} × JSON.parse`)
    t.ok([200, 400, 404].includes(answer?.status ?? 0), `${name}: ${answer?.status}`)
    found.push(`${shortestMs.toFixed(1).padStart(7)} ms ${name}`)
  }
  t.comment(`the longest pauses:\n${found.sort().reverse().slice(0, 12).join('\n')}`)
  t.notMatch(world.log.join(''), /"level":50/, 'nothing of it is a fault of ours')
})
