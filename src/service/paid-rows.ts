import type { Row, Rows } from '../engine/engine.js'
import { ServiceError } from '../errors.js'
import type { Room } from './page.js'

/** Others who take of the quota meanwhile make a file of fewer rows necessary, so often at most. */
const fileRoundsMax = 3
const retryAfterSeconds = 1

/** How one question's rows are read and paid for. */
export interface PaidReading {
  /** At most so many rows. */
  readonly read: (limit: number) => Promise<Rows>
  /**
   * Charges rows; returns how many may be sent: fewer where the quota ends, or with `allOrNone`
   * none of them.
   * @throws row_quota_exceeded when nothing is left of the quota
   */
  readonly pay: (rows: number, allOrNone: boolean) => Promise<number>
  /** Rows left of the quota, by the last charge; Infinity where nothing is counted. */
  readonly left: () => number
}

/** Rows that were read; the first `paid` of them may be sent. */
export interface PaidRows {
  readonly rows: readonly Row[]
  /** At least one more row follows the last. */
  readonly hasMore: boolean
  /** What is sent: the text of each row, or one file of all. */
  readonly sent: readonly Buffer[]
  readonly paid: number
  /** What made them fewer than asked for, where more follow. */
  readonly cut: 'size' | 'quota' | null
}

/** Reads rows, and pays for as many as the door has room for and the quota leaves. */
export async function payRows(
  { read, pay }: PaidReading,
  limit: number,
  columns: readonly string[],
  room: Room | undefined,
): Promise<PaidRows> {
  const { rows, hasMore } = await read(Math.min(limit, room?.rowsMax(columns.length) ?? Infinity))
  const texts = rows.map((row) => row.encoded)
  const fitting = room?.rowsThatFit(texts, columns) ?? rows.length
  const paid = await pay(fitting, false)
  const cut = paid < fitting ? 'quota' : fitting < rows.length ? 'size' : null
  return { rows, hasMore, sent: texts.slice(0, paid), paid, cut }
}

/**
 * Reads rows as one file, of no more than the quota leaves, and pays for all of them: rows can't be
 * taken out of a file. Where others took of the quota meanwhile nothing is charged, and a file of
 * fewer rows is read.
 * @throws service_unavailable when that happens again and again; nothing is charged then
 */
export async function payFile({ read, pay, left }: PaidReading, limit: number): Promise<PaidRows> {
  for (let round = 0; round < fileRoundsMax; round++) {
    const rowsMax = Math.min(limit, left())
    const { rows, hasMore, file } = await read(rowsMax)
    if ((await pay(rows.length, true)) < rows.length) continue
    const cut = rowsMax < limit && hasMore ? 'quota' : null
    return { rows, hasMore, sent: file ? [file] : [], paid: rows.length, cut }
  }
  throw new ServiceError(
    'service_unavailable',
    'Other requests of this subscription took rows of its quota while this page was made. ' +
      'Try again.',
    { retryAfterSeconds },
  )
}
