import Type from 'typebox'
import { Value } from 'typebox/value'
import { ServiceError } from '../../errors.js'
import { ConnectionError, getRows, serverError, bodyText } from './query-client.js'
import type { QueryTarget } from './query-client.js'

type Parameters = readonly (readonly [string, string])[]

/** Rows as JSON texts. */
export interface Batch {
  readonly rows: readonly string[]
  /** What follows if the answer ends here, for the user; null after the last row. */
  readonly note: string | null
}

/** Pages with at most `rowsMax` rows together; null = one page of the server's usual size. */
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
    const rows = await linesIn(answer)
    cursor = answer.headers.get('x-next-cursor')
    if (left !== null) left -= rows.length
    yield { rows, note: nextNote(cursor) }
  } while (cursor !== null && left !== null && left > 0)
}

/** The one answer of `/top` or `/aggregate`, with a note if groups were left out. */
export async function* readAnswer(
  target: QueryTarget,
  path: '/top' | '/aggregate',
  parameters: Parameters,
  rowsMax: number | null,
): AsyncGenerator<Batch> {
  const limit = rowsMax === null ? [] : [['limit', String(rowsMax)] as const]
  const answer = await getRows(target, path, [...parameters, ...limit, ...ndjsonFrom(null)])
  const rows = await linesIn(answer)
  const groups = answer.headers.get('x-groups')
  const isCut = groups !== null && Number(groups) > rows.length
  yield {
    rows,
    note: isCut ? `these are ${rows.length} of ${groups} groups; --limit returns more` : null,
  }
}

async function linesIn(answer: Response): Promise<readonly string[]> {
  return (await bodyText(answer)).split('\n').slice(0, -1)
}

/** Attempts in a row that return no page. */
const triesMax = 8
const firstPauseMs = 250

/**
 * All rows of a question. After a broken connection it continues from the last complete page, so
 * that no row is duplicated.
 * @throws ServiceError, ConnectionError when another attempt would not help
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
        cursor = batch.cursor
        yield { rows: batch.rows, note: nextNote(cursor) }
        if (cursor === null) return
        tries = 0
      }
      throw new ConnectionError('The connection broke.')
    } catch (cause) {
      target.signal.throwIfAborted()
      if (!hasBegun || !isTemporary(cause) || tries >= triesMax) throw cause
      waitMs = waitMsOf(cause)
    }
    const pauseMs = Math.max(firstPauseMs * 2 ** tries, waitMs)
    await target.clock.sleep(pauseMs, target.signal)
  }
}

const temporaryCodes: readonly string[] = ['service_unavailable', 'rate_limit_exceeded']

function isTemporary(cause: unknown): boolean {
  if (cause instanceof ServiceError) return temporaryCodes.includes(cause.code)
  return cause instanceof ConnectionError
}

/** The wait that the server asks for. */
function waitMsOf(cause: unknown): number {
  return cause instanceof ServiceError ? (cause.retryAfterSeconds ?? 0) * 1000 : 0
}

function nextNote(cursor: string | null): string | null {
  return cursor && `there are more rows; continue with --cursor ${cursor}`
}

function ndjsonFrom(cursor: string | null): Parameters {
  const format = [['format', 'ndjson']] as const
  return cursor === null ? format : [...format, ['cursor', cursor]]
}

/** A line between the rows of an export; its first key is `cursor`. */
const Control = Type.Object({
  cursor: Type.Union([Type.String(), Type.Null()]),
  error: Type.Optional(Type.String()),
})

interface ExportBatch {
  readonly rows: readonly string[]
  /** Continues after these rows; null after the last row. */
  readonly cursor: string | null
}

/** The rows before each control line; rows after the last control line are dropped. */
async function* batchesOf(answer: Response): AsyncGenerator<ExportBatch> {
  let rows: string[] = []
  for await (const line of linesOf(answer)) {
    if (!line.startsWith('{"cursor":')) {
      rows.push(line)
      continue
    }
    const control: unknown = JSON.parse(line)
    if (!Value.Check(Control, control)) {
      throw new Error('The server sent a control line that this release does not understand.')
    }
    if (control.error !== undefined) throw serverError(control, 'The server ended the export.')
    yield { rows, cursor: control.cursor }
    rows = []
  }
}

/** The complete lines of an answer. @throws ConnectionError when the connection breaks */
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
