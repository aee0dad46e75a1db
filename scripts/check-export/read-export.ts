import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { dataset } from './export-fixture.js'
import type { House } from './export-fixture.js'

/** A line that is none of the rows. */
const Control = Type.Object({
  cursor: Type.Union([Type.String(), Type.Null()]),
  error: Type.Optional(Type.String()),
  complete: Type.Optional(Type.Boolean()),
  rows: Type.Optional(Type.Integer()),
})

/** What an export brought. */
export interface Reading {
  /** Rows up to the last control line. */
  readonly rows: number
  /** Null where none came. */
  readonly control: Type.Static<typeof Control> | null
}

interface Manner {
  /** The first row that is due. */
  readonly first: number
  readonly cursor: string | null
  /** Breaks the connection when so many rows of this answer have come. */
  readonly breakAt?: number
  /** Reads no faster. */
  readonly rowsPerSecond?: number
}

const Account = Type.Object({
  datasets: Type.Array(Type.Object({ rows: Type.Object({ used: Type.Integer() }) })),
})

/**
 * Reads an export to its end, or until it breaks it off.
 * @throws Error when a row is missing, comes twice or out of order
 */
export async function readExport(house: House, manner: Manner): Promise<Reading> {
  const { first, cursor, breakAt = Infinity, rowsPerSecond = Infinity } = manner
  const answer = await open(house, `/export${cursor === null ? '' : `?cursor=${cursor}`}`)
  const began = performance.now()
  let [rows, came] = [0, 0]
  let control: Reading['control'] = null
  answer.on('error', () => undefined)
  for await (const line of createInterface({ input: answer })) {
    if (line.startsWith('{"cursor":')) {
      control = Value.Parse(Control, JSON.parse(line))
      rows = came
      continue
    }
    const due = `{"id":${first + came},`
    if (!line.startsWith(due)) throw new Error(`${due} was due, and ${line.slice(0, 60)} came`)
    came += 1
    if (came >= breakAt) {
      answer.destroy()
      break
    }
    const aheadMs = (came / rowsPerSecond) * 1000 - (performance.now() - began)
    if (aheadMs > 100) await sleep(aheadMs)
  }
  return { rows, control }
}

/** Reads everything once, page by page, as callers do without an export. */
export async function walkPages(house: House): Promise<void> {
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const answer = await open(house, `?format=ndjson${cursor && `&cursor=${cursor}`}`)
    for await (const chunk of answer) void chunk
    cursor = answer.headers['x-next-cursor']?.toString()
  }
}

/** The rows that were charged so far. */
export async function chargedRows({ server, token }: House): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${server.base}/v1/account`, { headers })
  return Value.Parse(Account, await answer.json()).datasets[0]?.rows.used ?? 0
}

function open({ server, token }: House, path: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    const url = `${server.base}/v1/${dataset}${path}`
    get(url, { headers }, (answer) => {
      if (answer.statusCode === 200) resolve(answer)
      else reject(new Error(`${path} was answered ${answer.statusCode}`))
    }).on('error', reject)
  })
}
