/** The product's own engine in a loop, without a server: what a look-up costs without HTTP. */
import { openReader } from '../../src/app/reading.js'
import { readRegistry } from '../../src/catalog.js'
import { filterPredicates } from '../../src/columns/predicate.js'
import type { Version } from '../../src/versions/version.js'
import type { DatasetReader } from '../../src/cli/parts.js'
import type { ReaderOrder, ReaderReply } from './overhead.js'
import type { Question } from './questions.js'
import { serveOrders } from './worker.js'

const askMsMax = 60_000
let room: { readonly reader: DatasetReader; readonly version: Version } | null = null

async function answer(order: ReaderOrder): Promise<ReaderReply> {
  if (order.kind === 'open') {
    const reader = await openReader(await readRegistry(order.registry), order.dataset, null)
    const found = reader.catalog.datasets.get(order.dataset)
    if (!found?.version) throw new Error(found?.reason ?? 'no version')
    room = { reader, version: found.version }
    return { ms: 0, rows: 0 }
  }
  if (room === null) throw new Error('nothing is open')
  return lookUp(room.reader, room.version, order.question)
}

async function lookUp(
  { engine }: DatasetReader,
  version: Version,
  { inns, select, limit }: Question,
): Promise<ReaderReply> {
  const [key] = version.key
  if (!key) throw new Error('no key')
  const columns = (select ?? []).flatMap((name) => {
    const column = version.columns.find((each) => each.name === name)
    return column ? [column] : []
  })
  const predicates = filterPredicates(key, 'eq', inns)
  const signal = AbortSignal.timeout(askMsMax)
  const startedMs = performance.now()
  const question = { version, predicates, columns, after: null, limit }
  const { rows } = await engine.read(question, { signal, client: 'bench' })
  return { ms: performance.now() - startedMs, rows: rows.length }
}

serveOrders(answer, async () => room?.reader.close())
