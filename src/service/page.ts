import type { QuotaStatus } from '../access/allowance.js'
import { scopeOf } from '../access/scope.js'
import type { Column } from '../columns/column.js'
import { filterHint } from '../query/filter-hint.js'
import type { PageFormat } from '../query/page-format.js'
import type { RawChanges } from '../query/parse-changes.js'
import type { RawQuestion } from '../query/raw-question.js'
import type { Resolved } from '../query/resolved.js'
import type { RawSummary } from '../query/summary/raw-summary.js'
import type { RawTop } from '../query/parse-top.js'
import type { Version } from '../versions/version.js'
import type { DatasetCaller } from './caller.js'
import type { EmptyReason } from './empty-answer.js'

/** A door's request for data of one dataset. */
export interface DataRequest<Raw> {
  readonly dataset: string
  /** Parses the question; called only after the caller is admitted to the dataset. */
  readonly question: () => Raw
  /** The entity tags of the caller's copies, from `If-None-Match`. */
  readonly knownTags?: string | undefined
  /** Runs every check, but neither query nor charge (HEAD). */
  readonly checkOnly?: boolean
  /** Where pages of the portal remember what was paid: the same answer is free for a day. */
  readonly paidAnswers?: PaidMemory
  /** How much the door can send; any answer if omitted. */
  readonly room?: Room
}

/** A request for rows. */
interface RowsRequest<Raw> extends DataRequest<Raw> {
  /** The rows of the answer if the question sets no limit; the dataset's own default if omitted. */
  readonly usualLimit?: number
  /** Explains an empty first page: only if that is free, or also for the price of a row. */
  readonly explainEmpty?: 'free' | 'paid' | undefined
}

/** A request for a page of one dataset. */
export type PageRequest = RowsRequest<RawQuestion>

/** A request for the first rows by one column: one page, without a cursor. */
export type TopRequest = RowsRequest<RawTop>

/** A request for what differs between versions of one dataset. */
export type ChangesRequest = RowsRequest<RawChanges>

/** A request for groups of rows of one dataset. */
export type SummaryRequest = DataRequest<RawSummary>

/** The size limit of a door's answer. Rows beyond it are not charged; the cursor keeps them. */
export interface Room<Head = Column> {
  /** An upper bound on the rows that fit with this many columns; no more rows are read. */
  readonly rowsMax: (columns: number) => number
  /** How many of these rows fit, from the first; may refuse a page if not even one row fits. */
  readonly rowsThatFit: (rows: readonly Buffer[], columns: readonly Head[]) => number
}

/** What an answer says of a column at most once. */
export type ColumnHead = Pick<Column, 'name' | 'unit'>

/** The common part of every answer with data. */
export interface AnswerHead {
  readonly version: Version
  /** Null for a page that a quota cut: the same request may return more rows later. */
  readonly tag: string | null
  readonly format: PageFormat
  /** Of the columns, in formats whose headings can be chosen; else null. */
  readonly headings: readonly string[] | null
  /** The part of the dataset that the caller sees (`scope.ts`); null = all of it. */
  readonly scope: string | null
  /** What the caller may have meant, of the request alone; null = nothing to say. */
  readonly hint: string | null
}

/** What every answer to this request says. */
export function answerHead(
  { access, filters, format, headings }: Resolved,
  tag: string,
): AnswerHead & { readonly tag: string } {
  const { version } = access
  return { version, tag, format, headings, scope: scopeOf(access), hint: filterHint(filters) }
}

/** The answer to a caller who has the data already, or only wants every check. */
export interface WithoutData extends AnswerHead {
  readonly kind: 'unchanged' | 'checked'
}

/** What an answer cost. */
export interface Cost {
  /** The rows charged for the answer; 0 if no rows are counted. */
  readonly charged: number
  /** After every charge for the answer; undefined if no rows are counted. */
  readonly quota: QuotaStatus | undefined
}

/** Pays for the rows of one request. */
export interface Payment {
  /**
   * Charges rows durably and returns how many may be sent: fewer if the quota ends, or none with
   * `allOrNone`.
   */
  readonly pay: (rows: number, allOrNone: boolean, signal: AbortSignal) => Promise<number>
  /** All charges so far, and the quota after them. */
  readonly cost: () => Cost
}

/** Remembers which answers were paid, by entity tag. */
export interface PaidMemory {
  /** Pays, with what `open` opens, only for rows beyond those that were paid. */
  readonly payment: (
    reader: Pick<DatasetCaller, 'limits'>,
    tag: string,
    open: () => Payment,
  ) => Payment
}

/** A page of paid rows. */
export interface Page extends AnswerHead, Cost {
  readonly kind: 'page'
  /** UTF-8 in the page's format, in the order of the question; Parquet rows are one file. */
  readonly rows: readonly Buffer[]
  /** The rows' columns, in order. */
  readonly columns: readonly Column[]
  /** More rows meet the question. */
  readonly hasMore: boolean
  /** For the rows that follow; null if there are none, and for the first rows by one column. */
  readonly nextCursor: string | null
  /** Why the page is shorter than requested although more rows follow. */
  readonly cut: 'size' | 'quota' | null
  /** Why the page is empty; null if not requested or unknown. */
  readonly explanation: EmptyReason | null
  /** What else the body says. */
  readonly facts?: Readonly<Record<string, unknown>>
}

export type PageAnswer = WithoutData | Page

/** Groups of rows, paid. */
export interface GroupsAnswer extends AnswerHead, Cost {
  readonly kind: 'groups'
  /** UTF-8 in the answer's format, in the order of the question; Parquet groups are one file. */
  readonly rows: readonly Buffer[]
  /** The columns of a group in order, with types, units and meanings. */
  readonly columns: readonly Column[]
  /** How many groups are sent. */
  readonly sent: number
  /** All groups that meet `having`. */
  readonly groups: number
  /**
   * The rows that meet the filters; null if the request has groups and none is sent: a free answer
   * would count rows.
   */
  readonly rowsMet: number | null
  /** Groups beyond the limit, or beyond the door's room, are left out. */
  readonly truncated: boolean
}

export type SummaryAnswer = WithoutData | GroupsAnswer
