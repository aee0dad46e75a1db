import { Agent } from 'node:http'
import t from 'tap'
import {
  ask,
  datasetsWith,
  findDoors,
  names,
  select,
} from '../../../scripts/scenarios/difference/doors.js'
import { unlimited } from '../../../scripts/harness/fixture.js'
import type { Reply } from '../../../scripts/harness/http.js'
import { listen } from '../../support/answers.js'
import { startWorld } from '../../support/world.js'

/** What is another one in every answer, or counts requests. */
const changing = ['x-request-id', 'date', 'x-ratelimit-remaining', 'x-ratelimit-reset']

/** All that a client sees, in the order in which it is sent. */
function visible({ status, headers, text, isComplete }: Reply): unknown {
  const kept = Object.entries(headers).map(([name, value]) => [
    name,
    changing.includes(name) ? typeof value : value,
  ])
  return { status, headers: kept, text, isComplete }
}

// Guarantee: a client can't tell a dataset that it may not read from one that does not exist. How
// long answers take is measured by `npm run check:difference`.
await t.test('no door shows whether a dataset exists that the token may not read', async (t) => {
  const datasets = datasetsWith(unlimited)
  const files = Object.keys(datasets).map((name) => [`data/${name}.parquet`, select] as const)
  const registry = JSON.stringify({ datasets })
  const world = await startWorld(t, { files: Object.fromEntries(files), registry })
  const base = `http://127.0.0.1:${await listen(world)}`
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const targetOf = async (plan: string) => ({
    base,
    agent,
    token: (await world.subscribe([plan])).token,
  })
  const own = await targetOf(`${names.granted}:all`)
  const other = await targetOf(`${names.unlisted}:all`)

  for (const door of await findDoors(own, other)) {
    const unknown = await ask(own, door, names.unknown)
    t.match(unknown.text, door.isPublic ? /<html/ : /no dataset of this name/, door.name)
    t.notMatch(unknown.text, new RegExp(names.unlisted), door.name)
    const hidden = door.isPublic
      ? [names.unlisted, names.unknownToo]
      : [names.ungranted, names.unlisted, names.unknownToo]
    for (const name of hidden) {
      t.same(visible(await ask(own, door, name)), visible(unknown), `${door.name}: ${name}`)
    }
    if (door.isPublic) continue
    const known = await ask(other, door, names.unlisted)
    t.notSame(visible(known), visible(unknown), `${door.name}: with a plan`)
  }
})
