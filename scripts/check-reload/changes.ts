import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../harness/random.js'
import { get } from './answer.js'
import { badFiles } from './bad-files.js'
import type { Client } from './walks.js'
import { das, entries, pathOf, rowsOfYear, writeRegistry, years } from './reload-fixture.js'
import type { House } from './reload-fixture.js'
import { Fault } from './rows.js'
import { until, untilReload, untilServed } from './wait-served.js'

/** Above what the server promises, far below what a person would wait. */
const servedMsMax = 30_000
/** How long a bad file that says nothing lies there: a look of the server's takes less. */
const silentBadMs = 600
const limitMaxLeast = 1000

/** One number for each change: none comes twice. */
export class Numbers {
  #last = 0

  next(): number {
    return ++this.#last
  }
}

/** Replaces one year or all by rename; how long after it is served, in milliseconds. */
export async function refresh(
  client: Client,
  generation: number,
  only: number | null,
): Promise<number> {
  const { house } = client
  for (const year of years) {
    if (only === null || year === only) await replace(house, year, generation)
  }
  return untilServed(client, servedMsMax)
}

async function replace({ folder, things, writer }: House, year: number, generation: number) {
  things.willHold(year, generation)
  await writer.write(pathOf(folder, year), rowsOfYear, year, generation)
}

/** Changes a few words of the registry by rename, and waits until the server follows it. */
export async function edit(
  client: Client,
  isPacked: boolean,
  number: number,
  random: Random,
): Promise<void> {
  await writeRegistry(client.house, editedEntries(isPacked, number, random))
  await untilFollowed(client, number)
}

/** Waits until the description is that of an edit. */
export function untilFollowed({ target }: Client, number: number): Promise<number> {
  return until(`the registry's edit ${number} is followed`, servedMsMax, async () => {
    const reply = await get(target, '/v1/things/schema')
    if (reply && reply.status !== 200) throw new Fault(`${reply.status} to the schema`)
    return reply?.text.includes(`"edit ${number}."`) ?? false
  })
}

/** The registry after an edit; nothing that anybody uses is taken away. */
export function editedEntries(isPacked: boolean, number: number, random: Random) {
  const { things = {}, other = {} } = entries(isPacked)
  const kind = random.whole(0, 5)
  const plan = { rows_per_month: 1e15, history: 'all', price_rub: number, rate_per_minute: 1e9 }
  const changed = {
    ...things,
    description: `edit ${number}.`,
    ...(kind === 0 && { title: `Things ${number}` }),
    ...(kind === 1 && { plans: { all: plan } }),
    ...(kind === 2 && { plans: { all: { ...plan, price_rub: 0 }, [`new-${number}`]: plan } }),
    ...(kind === 3 && { limit: { default: 100, max: limitMaxLeast + number } }),
    ...(kind === 4 && { columns: { value: { description: `Value ${number}` } } }),
  }
  const extra = { title: 'Extra', files: 'data/other.parquet', description: String(number) }
  return { things: changed, other, ...(kind === 5 && { extra }) }
}

/** Drops a bad file, waits until the server has seen it, and takes it away. */
export async function dropBad(client: Client, number: number, generation: number): Promise<void> {
  const { house } = client
  const bad = badFiles[number % badFiles.length]
  if (!bad) throw new RangeError('no bad file')
  await bad.drop(house)
  try {
    if (bad.isRefused) await untilReload(client, 'refused', servedMsMax)
    else await sleep(silentBadMs)
  } catch (cause) {
    throw cause instanceof Fault ? new Fault(`${cause.message} (${bad.name})`) : cause
  }
  await bad.remove(house, generation)
  await untilServed(client, servedMsMax)
  await untilReload(client, 'ok', servedMsMax)
}

/** `das dataset reload` is of the opinion that everything is served. */
export async function reloadByHand({ house }: Client): Promise<void> {
  const { code, stdout, stderr } = await das(house, ['dataset', 'reload'])
  if (code !== 0) throw new Fault(`das dataset reload ends with ${code}: ${stdout}${stderr}`)
}
