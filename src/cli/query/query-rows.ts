import { setTimeout as sleep } from 'node:timers/promises'
import Type from 'typebox'
import { Value } from 'typebox/value'
import { ServiceError } from '../../errors.js'
import { ConnectionError, getRows, serverError, bodyText } from './query-client.js'
import type { QueryTarget } from './query-client.js'

type Parameters = readonly (readonly [string, string])[]

/** Rows as JSON texts, and the cursor that goes on after them; null after the last. */
export interface Batch {
  readonly rows: readonly string[]
  readonly cursor: string | null
}

/** Pages up to so many rows; null stands for one page as the server makes it. */
export async function* readPages(
  target: QueryTarget,
  parameters: Parameters,
  from: {
    readonly cursor: string | null
    readonly rowsMax: number | null
    readonly pageMax: number
  },
): AsyncGenerator<Batch> {
  let { cursor } = from
  let left = from.rowsMax
  do {
    const limit = left === null ? [] : [['limit', String(Math.min(left, from.pageMax))] as const]
    const answer = await getRows(target, '', [...parameters, ...limit, ...ndjsonFrom(cursor)])
    const rows = (await bodyText(answer)).split('\n').slice(0, -1)
    cursor = answer.headers.get('x-next-cursor')
    if (left !== null) left -= rows.length
    yield { rows, cursor }
  } while (cursor !== null && left !== null && left > 0)
}

/** Tries in a row that bring no page. */
const triesMax = 8
const firstPauseMs = 250

/**
 * The whole of a question. A connection that breaks is taken up again after the last whole page, so
 * that no row comes twice.
 * @throws ServiceError, ConnectionError when trying again is of no use
 */
export async function* readExport(
  target: QueryTarget,
  parameters: Parameters,
  start: string | null,
): AsyncGenerator<Batch> {
  let cursor = start
  let hasBegun = false
  for (let tries = 1; ; tries++) {
    let waitMs = 0
    try {
      const answer = await getRows(target, '/export', [...parameters, ...ndjsonFrom(cursor)])
      hasBegun = true
      for await (const batch of batchesOf(answer)) {
        yield batch
        if (batch.cursor === null) return
        cursor = batch.cursor
        tries = 0
      }
      throw new ConnectionError('The connection broke.')
    } catch (cause) {
      target.signal.throwIfAborted()
      if (!hasBegun || !isPassing(cause) || tries >= triesMax) throw cause
      waitMs = waitMsOf(cause)
    }
    const pauseMs = Math.max(firstPauseMs * 2 ** tries, waitMs)
    await sleep(pauseMs, undefined, { signal: target.signal }).catch(() =>
      target.signal.throwIfAborted(),
    )
  }
}

const passing: readonly string[] = ['service_unavailable', 'rate_limit_exceeded']

function isPassing(cause: unknown): boolean {
  if (cause instanceof ServiceError) return passing.includes(cause.code)
  return cause instanceof ConnectionError
}

/** What the server asks to wait. */
function waitMsOf(cause: unknown): number {
  return cause instanceof ServiceError ? (cause.retryAfterSeconds ?? 0) * 1000 : 0
}

function ndjsonFrom(cursor: string | null): Parameters {
  const format = [['format', 'ndjson']] as const
  return cursor === null ? format : [...format, ['cursor', cursor]]
}

/** Keys of its own that a control line may have; `cursor` stands first in each. */
const Control = Type.Object({
  cursor: Type.Union([Type.String(), Type.Null()]),
  error: Type.Optional(Type.String()),
})

/** What was sent up to each control line; rows after the last one are dropped. */
async function* batchesOf(answer: Response): AsyncGenerator<Batch> {
  let rows: string[] = []
  for await (const line of linesOf(answer)) {
    if (!line.startsWith('{"cursor":')) {
      rows.push(line)
      continue
    }
    const control: unknown = JSON.parse(line)
    if (!Value.Check(Control, control)) throw new Error('The server ended a page unreadably.')
    if (control.error !== undefined) throw serverError(control, 'The server ended the export.')
    yield { rows, cursor: control.cursor }
    rows = []
  }
}

/** The whole lines of an answer; @throws ConnectionError where it breaks off */
async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const chunk of body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (cause) {
    throw new ConnectionError('The connection broke.', { cause })
  }
}
