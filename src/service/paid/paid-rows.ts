import { requireQuota } from '../../access/allowance.js'
import type { Access } from '../../access/access.js'
import type { Column } from '../../columns/column.js'
import type { ReadOptions, Row, Rows } from '../../engine/engine.js'
import { unavailable } from '../../errors.js'
import type { PageFormat } from '../../query/page-format.js'
import type { Position } from '../../query/question.js'
import type { Filter } from '../../query/read-filters.js'
import { readOptions } from '../caller.js'
import type { DatasetCaller } from '../caller.js'
import type { EmptyReason } from '../empty-answer.js'
import type { AnswerHead, Cost, Page, Payment, Room } from '../page.js'

/** How often a file is read again after other requests have used the quota. */
const fileReadsMax = 3
const retryAfterSeconds = 1

/** The rows that a question asks for. */
export interface WantedRows {
  readonly access: Access
  /** The caller's filters, without those that the access adds. */
  readonly filters: readonly Filter[]
  /** Rows without a value in this column are left out. */
  readonly needed?: Column
  readonly format: PageFormat
  readonly columns: readonly Column[]
  readonly limit: number
  /** False for the later pages of a walk. */
  readonly isStart: boolean
  readonly read: (limit: number, options: ReadOptions) => Promise<Rows>
  /** The cursor for the rows after a position; null if there are no such cursors. */
  readonly cursorAfter: ((position: Position) => string) | null
}

/** Rows that are read and paid. */
export interface PaidRows {
  /** The text of each row, or one file for all rows. */
  readonly sent: readonly Buffer[]
  /** The place of the last row sent, if more follow; null on the last page. */
  readonly last: Position | null
  /** Why there are fewer rows than requested although more follow. */
  readonly cut: 'size' | 'quota' | null
  /** No row meets the question. */
  readonly isEmpty: boolean
}

/** The parameters for reading and paying the rows of one question. */
interface Reading {
  readonly limit: number
  readonly columns: readonly Column[]
  readonly room: Room | undefined
  readonly read: (limit: number) => Promise<Rows>
  /** @throws row_quota_exceeded if the quota has no rows left */
  readonly pay: (rows: number, allOrNone: boolean) => Promise<number>
  readonly left: () => number
}

/** Reads rows, and pays for as many as the door can send and the quota allows. */
export function readPaidRows(
  reader: DatasetCaller,
  wanted: WantedRows,
  payment: Payment,
  room: Room | undefined,
): Promise<PaidRows> {
  const { context } = reader
  const reading: Reading = {
    limit: wanted.limit,
    columns: wanted.columns,
    room,
    read: async (limit) => {
      const found = await wanted.read(limit, readOptions(reader, wanted.access))
      context.observe?.({ kind: 'read', rows: found.rows.length, hasMore: found.hasMore })
      return found
    },
    pay: async (rows, allOrNone) => {
      const paid = rows === 0 ? 0 : await payment.pay(rows, allOrNone, context.signal)
      const { quota } = payment.cost()
      if (rows > 0 && paid === 0) requireQuota(quota)
      context.observe?.({ kind: 'charge', charge: { rows, paid, quota } })
      context.observe?.({ kind: 'sent', rows: paid })
      return paid
    },
    left: () => payment.cost().quota?.remaining ?? Infinity,
  }
  return wanted.format === 'parquet' ? payFile(reading) : payRows(reading)
}

async function payRows({ limit, columns, room, read, pay }: Reading): Promise<PaidRows> {
  const { rows, hasMore } = await read(Math.min(limit, room?.rowsMax(columns.length) ?? Infinity))
  const texts = rows.map((row) => row.encoded)
  const fitting = room?.rowsThatFit(texts, columns) ?? rows.length
  const paid = await pay(fitting, false)
  const cut = paid < fitting ? 'quota' : fitting < rows.length ? 'size' : null
  return paidRows(rows, texts.slice(0, paid), paid, hasMore, cut)
}

/**
 * Reads rows as one file, within the quota, and pays for all of them: a file can't be cut. If other
 * requests use the quota meanwhile, a shorter file is read.
 * @throws service_unavailable if that happens repeatedly; nothing is charged then
 */
async function payFile({ limit, read, pay, left }: Reading): Promise<PaidRows> {
  for (let attempt = 0; attempt < fileReadsMax; attempt++) {
    const rowsMax = Math.min(limit, left())
    const { rows, hasMore, file } = await read(rowsMax)
    if ((await pay(rows.length, true)) < rows.length) continue
    const cut = rowsMax < limit && hasMore ? 'quota' : null
    return paidRows(rows, file ? [file] : [], rows.length, hasMore, cut)
  }
  throw unavailable(
    'Other requests of this subscription used its quota while this page was made. Try again.',
    retryAfterSeconds,
  )
}

function paidRows(
  rows: readonly Row[],
  sent: readonly Buffer[],
  paid: number,
  hasMore: boolean,
  cut: PaidRows['cut'],
): PaidRows {
  const last = hasMore || cut !== null ? rows[paid - 1] : undefined
  return { sent, last: last?.position ?? null, cut, isEmpty: rows.length === 0 }
}

/** Makes the page of a question from its paid rows. */
export function pageOf(
  head: AnswerHead,
  { columns, cursorAfter }: WantedRows,
  { sent, last, cut }: PaidRows,
  explanation: EmptyReason | null,
  cost: Cost,
): Page {
  return {
    kind: 'page',
    ...head,
    ...cost,
    tag: cut === null ? head.tag : null,
    rows: sent,
    columns,
    hasMore: last !== null,
    nextCursor: last && (cursorAfter?.(last) ?? null),
    cut,
    explanation,
  }
}
