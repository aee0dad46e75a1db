import { Cache } from '../../cache.js'

/** Larger answers are not kept. */
const answerBytesMax = 200_000
const bytesMax = 8_000_000
/** What an answer takes beside its bytes, and each of its rows. */
const overheadBytes = 200

/** The parts of an answer that count. */
export interface Keepable {
  readonly rows: readonly (Buffer | { readonly encoded: Buffer })[]
  readonly file?: Buffer
}

/** A cache of small answers, by entity tag: the same question gets the same bytes again. */
export function answerCache<Answer extends Keepable>(): Cache<Answer> {
  return new Cache<Answer>(bytesMax, bytesOf)
}

/** Returns the kept answer, or makes one and keeps it if it is small. */
export function keptAnswer<Answer extends Keepable>(
  cache: Cache<Answer>,
  key: string,
  make: () => Promise<Answer>,
): Promise<Answer> {
  const isSmall = (answer: Answer) => bytesOf(answer) <= answerBytesMax
  const makeSmall = async () => {
    const answer = await make()
    return isSmall(answer) ? withOwnBytes(answer) : answer
  }
  return cache.get(key, makeSmall, isSmall)
}

function bytesOf({ rows, file }: Keepable): number {
  const bytes = rows.reduce((sum, row) => sum + textOf(row).length + overheadBytes, overheadBytes)
  return bytes + (file?.length ?? 0)
}

/** The engine's rows are parts of far larger buffers, which a kept answer must not hold. */
function withOwnBytes<Answer extends Keepable>(answer: Answer): Answer {
  const all = Buffer.allocUnsafeSlow(answer.rows.reduce((sum, row) => sum + textOf(row).length, 0))
  let end = 0
  const own = (text: Buffer) => {
    const start = end
    end += text.copy(all, start)
    return all.subarray(start, end)
  }
  const rows = answer.rows.map((row) =>
    Buffer.isBuffer(row) ? own(row) : { ...row, encoded: own(row.encoded) },
  )
  return { ...answer, rows }
}

function textOf(row: Keepable['rows'][number]): Buffer {
  return Buffer.isBuffer(row) ? row : row.encoded
}
