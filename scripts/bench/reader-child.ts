/** The product's own engine in a loop, without a server: what a look-up costs without HTTP. */
import { serveOrders } from '../harness/worker.js'
import type { ReaderOrder, ReaderReply } from './overhead.js'
import { lookUp, openDataset } from './read-dataset.js'
import type { OpenDataset } from './read-dataset.js'

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

serveOrders(answer, async () => dataset?.reader.close())
