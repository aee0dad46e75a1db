import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startClients } from '../harness/clients.js'
import { differenceOf } from '../harness/difference.js'
import { Fault } from '../harness/fault.js'
import { send, SocketError } from '../harness/http.js'
import type { Reply } from '../harness/http.js'
import { randomOf } from '../harness/random.js'
import { datasets } from './faults-fixture.js'
import { rowCount, rowsArrived, rowText } from './rows.js'

/** What clients saw, from the first fault to the last. */
export interface Seen {
  /** Answers by status; `no answer` and `broken off` beside them. */
  readonly ends: Record<string, number>
  /** Rows that arrived, whole answers and broken ones. */
  delivered: number
  /** Walks and exports that brought every row once and in order. */
  whole: number
  /** Why a row was missing or wrong. */
  readonly lost: string[]
}

/** Clients that look up rows, walk and export until they are stopped. */
export interface Watchers {
  /** Requests go to this server from here on. */
  readonly moveTo: (base: string) => void
  readonly stop: () => Promise<void>
}

const kinds = ['look-up', 'look-up', 'look-up', 'walk', 'walk', 'export'] as const
const pageRows = 500
/** After a refusal. */
const pauseMs = 25

/** Starts the clients; `seen` collects what they saw. */
export function startWatchers(base: string, token: string, seed: number, seen: Seen): Watchers {
  const place = { base }
  const agent = new Agent({ keepAlive: true, maxSockets: kinds.length * 2 })
  const ask = async (path: string): Promise<Reply | null> => {
    try {
      const target = { base: place.base, agent, token }
      const reply = await send(target, { method: 'GET', path, body: '' })
      seen.delivered += rowsArrived(reply.text)
      count(seen, reply.isComplete ? String(reply.status) : 'broken off')
      if (reply.isComplete && [200, 400].includes(reply.status)) return reply
    } catch (cause) {
      if (!(cause instanceof SocketError)) throw cause
      count(seen, 'no answer')
    }
    await sleep(pauseMs)
    return null
  }
  const running = startClients(kinds.length, (at) => {
    const random = randomOf(seed, at)
    const dataset = random.oneOf(datasets)
    switch (kinds[at]) {
      case 'walk':
        return walker(ask, dataset, seen)
      case 'export':
        return exporter(ask, dataset, seen)
      default:
        return async () => {
          const id = random.whole(0, rowCount - 1)
          const filter = random.oneOf([`id=eq.${id}`, `word=contains.w${id}w`])
          const reply = await ask(`/v1/${random.oneOf(datasets)}?${filter}`)
          if (reply) require(seen, reply.text, `{"data":[${rowText(id)}],"next_cursor":null}`)
        }
    }
  })
  const stop = async () => {
    running.stop()
    await running.done
    agent.destroy()
  }
  return {
    moveTo: (next) => {
      place.base = next
    },
    stop,
  }
}

type Ask = (path: string) => Promise<Reply | null>

/** Walks again and again; a page that fails is asked for again with the same cursor. */
function walker(ask: Ask, dataset: string, seen: Seen): () => Promise<void> {
  let [first, cursor] = [0, null as string | null]
  return async () => {
    const from = cursor === null ? '' : `&cursor=${cursor}`
    const reply = await ask(`/v1/${dataset}?limit=${pageRows}${from}`)
    if (!reply) return
    if (reply.status === 400) {
      // The walk's form of the version is gone: it says so, and the client starts again.
      first = 0
      cursor = null
      return
    }
    const rows = rowTexts(first, first + pageRows)
    const next = /"next_cursor":(null|"[\w-]+")\}$/.exec(reply.text)?.[1] ?? '?'
    require(seen, reply.text, `{"data":[${rows.join()}],"next_cursor":${next}}`)
    first += rows.length
    cursor = JSON.parse(next) as string | null
    if ((cursor === null) !== (first === rowCount)) {
      seen.lost.push(`a walk ends after ${first} rows`)
    }
    if (cursor !== null) return
    first = 0
    seen.whole += 1
  }
}

function exporter(ask: Ask, dataset: string, seen: Seen): () => Promise<void> {
  return async () => {
    const reply = await ask(`/v1/${dataset}/export`)
    if (!reply) return
    const lines = reply.text.trimEnd().split('\n')
    const rows = lines.filter((line) => !line.startsWith('{"cursor":'))
    require(seen, rows.join('\n'), rowTexts(0, rows.length).join('\n'))
    const isWhole = lines.at(-1)?.includes('"complete":true') === true
    if (isWhole && rows.length !== rowCount) seen.lost.push(`an export of ${rows.length} rows`)
    if (isWhole) seen.whole += 1
    else count(seen, 'export cut')
  }
}

function rowTexts(from: number, to: number): readonly string[] {
  const end = Math.min(to, rowCount)
  return Array.from({ length: Math.max(0, end - from) }, (_, at) => rowText(from + at))
}

function require(seen: Seen, found: string, expected: string): void {
  const difference = differenceOf(found, expected)
  if (difference !== null) seen.lost.push(`rows differ ${difference}`)
}

function count({ ends }: Seen, end: string): void {
  ends[end] = (ends[end] ?? 0) + 1
}

/** Asks until every dataset is served right; returns how long that took. */
export async function msUntilWell(
  base: () => string,
  token: string,
  withinMs: number,
): Promise<number> {
  const startedMs = performance.now()
  const agent = new Agent({ keepAlive: false })
  const get = async (path: string) => {
    const target = { base: base(), agent, token }
    return send(target, { method: 'GET', path, body: '' }).catch(() => null)
  }
  for (;;) {
    const answers = await Promise.all([
      get('/readyz'),
      ...datasets.map((name) => get(`/v1/${name}/aggregate?measures=count`)),
      ...datasets.map((name) => get(`/v1/${name}/top?by=id&limit=1`)),
    ])
    const took = performance.now() - startedMs
    if (answers.every((reply) => reply?.status === 200)) return took
    if (took > withinMs) {
      const words = answers.map((reply) => `${reply?.status} ${reply?.text.slice(0, 200)}`)
      throw new Fault(`not well within ${withinMs} ms: ${words.join('; ')}`)
    }
    await sleep(pauseMs)
  }
}
