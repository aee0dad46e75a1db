import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../harness/fault.js'
import { das, unlimited, writeRegistry } from '../harness/fixture.js'
import type { Random } from '../harness/random.js'
import { get } from './answer.js'
import { badFiles } from './bad-files.js'
import type { Client } from './walks.js'
import { entries, pathOf, rowsOfYear, years } from './reload-fixture.js'
import type { ReloadFixture } from './reload-fixture.js'
import { until, untilReload, untilServed } from './wait-served.js'

/** Above what the server promises, far below what a person would wait. */
const servedMsMax = 30_000
/** How long an ignored file stays: the server checks the folder more often. */
const ignoredMs = 600
const limitMaxLeast = 1000

/** Replaces one year or all by rename; returns after how many milliseconds it is served. */
export async function refresh(
  client: Client,
  generation: number,
  only: number | null,
): Promise<number> {
  const { fixture } = client
  for (const year of years) {
    if (only === null || year === only) await replace(fixture, year, generation)
  }
  return untilServed(client, servedMsMax)
}

async function replace(
  { folder, things, writer }: ReloadFixture,
  year: number,
  generation: number,
) {
  things.willHold(year, generation)
  await writer.write(pathOf(folder, year), rowsOfYear, year, generation)
}

/** Edits the registry by rename, and waits until the server follows it. */
export async function edit(
  client: Client,
  isPacked: boolean,
  number: number,
  random: Random,
): Promise<void> {
  await writeRegistry(client.fixture.folder, editedEntries(isPacked, number, random))
  await untilFollowed(client, number)
}

/** Waits until the dataset's description is that of an edit. */
function untilFollowed({ target }: Client, number: number): Promise<number> {
  return until(`the registry's edit ${number} is followed`, servedMsMax, async () => {
    const reply = await get(target, '/v1/things/schema')
    if (reply && reply.status !== 200) throw new Fault(`${reply.status} to the schema`)
    return reply?.text.includes(`"edit ${number}."`) ?? false
  })
}

/** The registry after an edit, which removes nothing that the clients use. */
function editedEntries(isPacked: boolean, number: number, random: Random) {
  const { things = {}, other = {} } = entries(isPacked)
  const kind = random.whole(0, 5)
  const plan = { ...unlimited, price_rub: number }
  const changed = {
    ...things,
    description: `edit ${number}.`,
    ...(kind === 0 && { title: `Things ${number}` }),
    ...(kind === 1 && { plans: { all: plan } }),
    ...(kind === 2 && { plans: { all: unlimited, [`new-${number}`]: plan } }),
    ...(kind === 3 && { limit: { default: 100, max: limitMaxLeast + number } }),
    ...(kind === 4 && { columns: { value: { description: `Value ${number}` } } }),
  }
  const extra = { title: 'Extra', files: 'data/other.parquet', description: String(number) }
  return { things: changed, other, ...(kind === 5 && { extra }) }
}

/** Drops a bad file, waits until the server has checked it, and removes it. */
export async function dropBad(client: Client, number: number, generation: number): Promise<void> {
  const { fixture } = client
  const bad = badFiles[number % badFiles.length]
  if (!bad) throw new RangeError('no bad file')
  await bad.drop(fixture)
  try {
    if (bad.isRefused) await untilReload(client, 'refused', servedMsMax)
    else await sleep(ignoredMs)
  } catch (cause) {
    throw cause instanceof Fault ? new Fault(`${cause.message} (${bad.name})`) : cause
  }
  await bad.remove(fixture, generation)
  await untilServed(client, servedMsMax)
  await untilReload(client, 'ok', servedMsMax)
}

/** Runs `das dataset reload`, which must find everything served. */
export async function reloadByHand({ fixture }: Client): Promise<void> {
  const { code, stdout, stderr } = await das(fixture, ['dataset', 'reload'])
  if (code !== 0) throw new Fault(`das dataset reload ended: ${code}: ${stdout}${stderr}`)
}
