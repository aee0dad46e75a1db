import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Server } from '../harness/server.js'

/** A running server, and a token that no quota stops. */
export interface ExportFixture {
  readonly server: Server
  readonly token: string
}

export const dataset = 'rows'

/** A line that is not a row. */
const Control = Type.Object({
  cursor: Type.Union([Type.String(), Type.Null()]),
  error: Type.Optional(Type.String()),
  complete: Type.Optional(Type.Boolean()),
  rows: Type.Optional(Type.Integer()),
})

/** What arrived of an export. */
export interface ExportResult {
  /** Rows up to the last control line. */
  readonly rows: number
  /** The last control line; null where none came. */
  readonly control: Type.Static<typeof Control> | null
}

/** Which part of an export is read, and how. */
interface Reading {
  /** The first row that is expected. */
  readonly first: number
  readonly cursor: string | null
  /** Breaks the connection when so many rows of this answer have come. */
  readonly breakAt?: number
  /** Reads no faster. */
  readonly rowsPerSecond?: number
  /** Is called once a row has come. */
  readonly onFirst?: () => void
}

const Account = Type.Object({
  datasets: Type.Array(Type.Object({ rows: Type.Object({ used: Type.Integer() }) })),
})

/**
 * Reads an export to its end, or breaks the connection where the reading says.
 * @throws Error when a row is missing, duplicated or out of order
 */
export async function readExport(fixture: ExportFixture, reading: Reading): Promise<ExportResult> {
  const { first, cursor, breakAt = Infinity, rowsPerSecond = Infinity } = reading
  const answer = await open(fixture, `/export${cursor === null ? '' : `?cursor=${cursor}`}`)
  const began = performance.now()
  let [rows, came] = [0, 0]
  let control: ExportResult['control'] = null
  answer.on('error', () => undefined)
  for await (const line of createInterface({ input: answer })) {
    if (line.startsWith('{"cursor":')) {
      control = Value.Parse(Control, JSON.parse(line))
      rows = came
      continue
    }
    const due = `{"id":${first + came},`
    if (!line.startsWith(due)) throw new Error(`expected ${due} and got ${line.slice(0, 60)}`)
    came += 1
    if (came === 1) reading.onFirst?.()
    if (came >= breakAt) {
      answer.destroy()
      break
    }
    const aheadMs = (came / rowsPerSecond) * 1000 - (performance.now() - began)
    if (aheadMs > 100) await sleep(aheadMs)
  }
  return { rows, control }
}

/** Reads everything once, page by page, like a client that does not export. */
export async function walkPages(fixture: ExportFixture): Promise<void> {
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const answer = await open(fixture, `?format=ndjson${cursor && `&cursor=${cursor}`}`)
    for await (const chunk of answer) void chunk
    cursor = answer.headers['x-next-cursor']?.toString()
  }
}

/** The rows that were charged so far. */
export async function chargedRows({ server, token }: ExportFixture): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${server.base}/v1/account`, { headers })
  return Value.Parse(Account, await answer.json()).datasets[0]?.rows.used ?? 0
}

function open({ server, token }: ExportFixture, path: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    const url = `${server.base}/v1/${dataset}${path}`
    get(url, { headers }, (answer) => {
      if (answer.statusCode === 200) resolve(answer)
      else reject(new Error(`${path} is answered with ${answer.statusCode}`))
    }).on('error', reject)
  })
}
