import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClients } from '../../harness/clients.js'
import { demand, eventually } from '../../harness/fault.js'
import type { Sold } from '../../harness/fixture.js'
import { getOnce } from '../../harness/http.js'
import { randomOf } from '../../harness/random.js'
import { ask } from '../parts/ask.js'
import type { Page } from '../parts/ask.js'
import type { Ledger } from '../parts/ledger.js'
import { checkFirst, labelPart, rowsOf, sizeOf } from '../parts/rows.js'
import type { Selection, Table } from '../parts/rows.js'
import { beginWalk, messageOf, nextPage } from '../parts/walks.js'
import type { Question, Reader } from '../parts/walks.js'

const shape = { years: [1, 2], rows: 2000, letters: 0 } as const
/** The same rows as dropped, and with all forms. */
export const tables: readonly [Table, Table] = [
  { ...shape, name: 'plain' },
  { ...shape, name: 'packed' },
]
const everything = { years: shape.years, from: 0, to: shape.rows }

/** What clients saw, from the first fault to the last. */
export interface Watched {
  readonly ledger: Ledger
  /** Walks and exports that brought every row once and in order. */
  whole: number
}

const kinds = ['look-up', 'look-up', 'look-up', 'walk', 'walk', 'export'] as const
const pageRows = 500
/** After a refusal. */
const pauseMs = 25

/** Starts clients that look up rows, walk and export until they are stopped. */
export function startWatchers(base: string, watcher: Sold, seed: number, watched: Watched) {
  const agent = new Agent({ keepAlive: true, maxSockets: kinds.length * 2 })
  const get = async (table: Table, path: string, most: number): Promise<Page | 'gone' | null> => {
    const target = { base, agent, token: watcher.token }
    const answer = await ask(target, { method: 'GET', path, body: '' })
    const asked = { subscription: watcher.subscription, dataset: table.name }
    watched.ledger.note({ ...asked, cost: { kind: 'each', most } }, answer)
    if (answer.kind === 'page') return answer
    if (answer.kind === 'refused' && answer.status === 400) return 'gone'
    await sleep(pauseMs)
    return null
  }
  const reader: Reader = {
    ask: (question) => get(question.table, messageOf(question).path, question.limit),
  }
  const running = startClients(kinds.length, (at) => {
    const random = randomOf(seed, at)
    const table = random.oneOf(tables)
    switch (kinds[at]) {
      case 'walk':
        return walker(reader, table, watched)
      case 'export':
        return async () => {
          const page = await get(table, `/v1/${table.name}/export`, sizeOf(everything))
          if (page === null || page === 'gone') return
          requireRows(page, everything)
          if (page.isWhole) watched.whole += 1
        }
      default:
        return async () => {
          const id = random.whole(0, shape.rows - 1)
          const { name } = random.oneOf(tables)
          const filter = random.oneOf([`id=eq.${id}`, `label=contains.${labelPart(id)}`])
          const path = `/v1/${name}?${filter.replace(' ', '%20')}`
          const page = await get({ ...shape, name }, path, shape.years.length)
          demand(page !== 'gone', 'a look-up was refused with 400')
          if (page) requireRows(page, { years: shape.years, from: id, to: id + 1 })
        }
    }
  })
  const stop = async () => {
    running.stop()
    await running.done.finally(() => agent.destroy())
  }
  return { stop }
}

/** Walks again and again; a page that fails is asked for again with the same cursor. */
function walker(reader: Reader, table: Table, watched: Watched): () => Promise<void> {
  const question: Question = {
    ...{ door: 'get', table, selection: everything, limit: pageRows, cursor: null },
  }
  let walk = beginWalk(reader, question)
  return async () => {
    const step = await nextPage(reader, walk)
    if (step === 'ended') watched.whole += 1
    // `gone`: the version that the walk reads is no more, so the client starts again.
    if (step === 'ended' || step === 'gone') walk = beginWalk(reader, question)
  }
}

/** @throws Fault unless a page has exactly the rows of a selection, or an export begins so */
function requireRows(page: Page, selection: Selection): void {
  const rows = rowsOf(page.rows)
  checkFirst(rows, { ...shape, name: '' }, selection)
  if (!page.isWhole) return
  demand(page.cursor === null, 'a cursor where no more rows are due')
  demand(rows.length === sizeOf(selection), `${rows.length} rows, not ${sizeOf(selection)}`)
}

/** Asks until every dataset is served right; returns how long that took. */
export async function msUntilWell(base: string, token: string, withinMs: number): Promise<number> {
  const startedMs = performance.now()
  const questions = ['aggregate?measures=count', 'top?by=id&limit=1']
  const paths = tables.flatMap(({ name }) => questions.map((each) => `/v1/${name}/${each}`))
  await eventually('all datasets are served', { withinMs, everyMs: pauseMs }, async () => {
    const answers = await Promise.all(
      ['/readyz', ...paths].map((path) => getOnce(base, path, token)),
    )
    return answers.every((reply) => reply?.status === 200) || undefined
  })
  return performance.now() - startedMs
}
