/** The product's own engine in a loop, without a server: what a look-up costs without HTTP. */
import { openReader } from '../../src/app/reading.js'
import { readRegistry } from '../../src/catalog.js'
import type { Column } from '../../src/columns/column.js'
import { filterPredicates } from '../../src/columns/predicate.js'
import type { Version } from '../../src/versions/version.js'
import type { DatasetReader } from '../../src/cli/parts.js'
import { machineClock } from '../../src/clock.js'
import { serveOrders } from '../harness/worker.js'
import type { ReaderOrder, ReaderReply } from './overhead.js'

/** A dataset that the product's own engine reads without a server. */
interface OpenDataset {
  readonly reader: DatasetReader
  readonly version: Version
}

const askMsMax = 60_000

let dataset: OpenDataset | null = null

async function answer(order: ReaderOrder): Promise<ReaderReply> {
  if (order.kind === 'open') {
    dataset = await openDataset(order.registry, order.dataset)
    return { ms: 0, cpuMs: 0, rows: 0 }
  }
  if (dataset === null) throw new Error('nothing is open')
  const { inns, select, limit } = order.question
  const { columns: all } = dataset.version
  const columns = (select ?? []).flatMap((name) => all.filter((column) => column.name === name))
  const begun = process.cpuUsage()
  const { ms, rows } = await lookUp(dataset, inns, columns, limit)
  const { user, system } = process.cpuUsage(begun)
  return { ms, cpuMs: (user + system) / 1000, rows: rows.length }
}

/** Opens a dataset of a registry. */
async function openDataset(registry: string, name: string): Promise<OpenDataset> {
  const reader = await openReader(await readRegistry(registry), name, null, {
    trino: { trinoUser: 'das', trinoPassword: null },
    clock: { ...machineClock, now: () => Date.now() },
  })
  const found = reader.catalog.datasets.get(name)
  if (!found?.version) throw new Error(found?.reason ?? 'no version')
  return { reader, version: found.version }
}

/** Reads the rows of companies, and measures that. */
async function lookUp(
  { reader, version }: OpenDataset,
  inns: readonly string[],
  columns: readonly Column[],
  limit: number,
) {
  const [key] = version.key
  if (!key) throw new Error('no key')
  const predicates = filterPredicates(key, 'eq', inns)
  const signal = AbortSignal.timeout(askMsMax)
  const startedMs = performance.now()
  const question = { version, predicates, columns, after: null, limit }
  const { rows } = await reader.engine.read(question, { signal, client: 'bench' })
  return { ms: performance.now() - startedMs, rows }
}

serveOrders(answer, async () => dataset?.reader.close())
