import type { Delivered, World } from '../world.js'
import { datasetNames, faults } from '../world-files.js'
import type { DatasetName, Edition } from '../world-files.js'

/** By less than the share that the service takes for a loss. */
const growth = [0.9, 0.95, 1, 1.05, 1.1, 1.3]
const rowsMin = 40
const rowsMax = 400

/** New files of a dataset that the service has to take. */
export async function refresh(world: World): Promise<string> {
  const dataset = world.random.oneOf(datasetNames)
  const delivered = deliveredOf(world, dataset)
  const edition = nextEdition(world, delivered)
  const before = delivered.served
  delivered.editions.set(edition.number, edition)
  delivered.served = [...before, edition.number]
  await world.machine.beside(() => world.files.deliver(dataset, edition, world.now))
  delivered.isBad = false
  const way = world.random.oneOf(['found', 'reload', 'command'])
  if (way === 'found') await world.machine.pass(6000)
  if (way === 'found') await world.machine.pass(6000)
  if (way === 'reload') await world.house.reload()
  if (way === 'command') await world.house.das(['dataset', 'reload'])
  const served = await servedRows(world, dataset)
  const words = `${dataset} edition ${edition.number}, ${edition.rows} rows, ${way}`
  if (served === null) return `${words} → not known`
  world.require(served === edition.rows, `${dataset}: a good delivery is not served (${served})`)
  replace(world, delivered, before, edition.number)
  return `${words} → served`
}

/** New files that the service has to refuse: what was served is served on. */
export async function deliverBad(world: World): Promise<string> {
  const dataset = world.random.oneOf(datasetNames)
  const fault = world.random.oneOf(faults)
  const delivered = deliveredOf(world, dataset)
  const edition = nextEdition(world, delivered)
  await world.machine.beside(() => world.files.deliver(dataset, edition, world.now, fault))
  delivered.isBad = true
  await world.house.reload()
  const ready = await world.get('/readyz')
  world.require(
    ready.status !== 200 || ready.body['reload'] === 'refused',
    `${dataset}: readyz reports no refused files (${fault})`,
  )
  return `${dataset} ${fault} → refused`
}

/** Which of the editions that may be served is; asked after a kill in a delivery. */
export async function learnServed(world: World): Promise<void> {
  for (const [dataset, delivered] of world.delivered) {
    if (delivered.served.length < 2) continue
    const rows = await servedRows(world, dataset)
    const known = delivered.served.filter((number) => delivered.editions.get(number)?.rows === rows)
    world.require(
      rows === null || known.length > 0,
      `${dataset}: ${rows} rows were never delivered`,
    )
    const number = known.at(-1)
    if (number !== undefined) replace(world, delivered, delivered.served, number)
  }
}

export function deliveredOf(world: World, dataset: DatasetName): Delivered {
  const known = world.delivered.get(dataset)
  if (known) return known
  const none = { editions: new Map(), replacedAt: new Map(), served: [], isBad: false }
  world.delivered.set(dataset, none)
  return none
}

function replace(world: World, delivered: Delivered, before: readonly number[], now: number): void {
  for (const number of before) {
    if (number !== now && !delivered.replacedAt.has(number)) {
      delivered.replacedAt.set(number, world.now)
    }
  }
  delivered.served = [now]
}

/** Another number of rows than every edition that may be served. */
function nextEdition(world: World, { editions, served }: Delivered): Edition {
  const number = Math.max(0, ...editions.keys()) + 1
  const last = editions.get(served.at(-1) ?? 0)?.rows ?? 200
  const factor = world.random.oneOf(growth)
  const rows = Math.min(rowsMax, Math.max(rowsMin, Math.round(last * factor))) + (number % 7)
  return { number, rows }
}

/** How many rows the catalog says a dataset has; null where nobody may ask, or the disk is full. */
async function servedRows(world: World, dataset: DatasetName): Promise<number | null> {
  const books = world.books()
  for (const { subscription, secret } of world.tokens.toReversed()) {
    if (books.subscriptions.get(subscription)?.grants.has(dataset) !== true) continue
    const { status, body } = await world.get(`/v1/${dataset}/schema`, secret)
    if (status === 200) return Number(body['rows'])
  }
  return null
}
