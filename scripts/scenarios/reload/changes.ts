import { setTimeout as sleep } from 'node:timers/promises'
import { inBatches } from '../../../src/versions/in-batches.js'
import { Fault } from '../../harness/fault.js'
import { das, unlimited, writeRegistry } from '../../harness/fixture.js'
import type { Random } from '../../harness/random.js'
import { badFiles } from './bad-files.js'
import { get, servedMsMax, until, untilReload, untilServed } from './client.js'
import type { Client } from './client.js'
import { entries, replace, replaceAll, writeYear } from './reload-fixture.js'
import type { ReloadFixture } from './reload-fixture.js'

/** How long an ignored file stays: the server checks the folder more often. */
const ignoredMs = 600
const limitMaxLeast = 1000
/** So many files are not replaced between two checks of the server. */
const manyFiles = 50
/** Files that are replaced at the same time. */
const atOnce = 16

/**
 * Replaces one year or all, one after the other; returns after how many milliseconds it is served.
 */
export async function refresh(
  client: Client,
  generation: number,
  only: number | null,
): Promise<number> {
  const { fixture } = client
  if (only === null) await replaceAll(fixture, generation)
  else await replace(fixture, only, generation)
  return untilServed(client)
}

/** Replaces all years at the same time; returns after how many milliseconds they are served. */
export async function refreshAtOnce(client: Client, generation: number): Promise<number> {
  const { fixture } = client
  const done = fixture.things.willHoldAll(generation)
  await inBatches(fixture.table.years, (year) => writeYear(fixture, year, generation), atOnce)
  done()
  return untilServed(client)
}

/** Edits the registry by rename, and waits until the server follows it. */
export async function edit(
  client: Client,
  isPacked: boolean,
  number: number,
  random: Random,
): Promise<void> {
  await writeRegistry(
    client.fixture.folder,
    editedEntries(client.fixture, isPacked, number, random),
  )
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
function editedEntries(
  { files }: ReloadFixture,
  isPacked: boolean,
  number: number,
  random: Random,
) {
  const { things = {}, other = {} } = entries(files, isPacked)
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
  const usable = badFiles.filter(({ ofAll }) => !ofAll || fixture.table.years.length < manyFiles)
  const bad = usable[number % usable.length]
  if (!bad) throw new RangeError('no bad file')
  await bad.drop(fixture)
  try {
    if (bad.isRefused) await untilReload(client, 'refused')
    else await sleep(ignoredMs)
  } catch (cause) {
    throw cause instanceof Fault ? new Fault(`${cause.message} (${bad.name})`) : cause
  }
  await bad.remove(fixture, generation)
  await untilServed(client)
  await untilReload(client, 'ok')
}

/** Runs `das dataset reload`, which must find everything served. */
export async function reloadByHand({ fixture }: Client): Promise<void> {
  const { code, stdout, stderr } = await das(fixture, ['dataset', 'reload'])
  if (code !== 0) throw new Fault(`das dataset reload ended: ${code}: ${stdout}${stderr}`)
}
