import type { QuotaStatus } from '../access/allowance.js'
import type { PageFormat } from '../query/page-format.js'
import type { RawQuestion } from '../query/raw-question.js'
import type { Version } from '../versions/version.js'
import type { EmptyReason } from './empty-answer.js'

/** A door's request for a page of one dataset. */
export interface PageRequest {
  readonly dataset: string
  /** Parses the question; called only after the caller is admitted to the dataset. */
  readonly question: () => RawQuestion
  /** The entity tags of the caller's copies, from `If-None-Match`. */
  readonly knownTags?: string | undefined
  /** Runs every check, but neither query nor charge (HEAD). */
  readonly checkOnly?: boolean
  /** The page's rows if the question sets no limit; the dataset's own default if omitted. */
  readonly usualLimit?: number
  /** How much the door can send; any page if omitted. */
  readonly room?: Room
  /** Explains an empty first page: only if that is free, or also for the price of a row. */
  readonly explainEmpty?: 'free' | 'paid'
}

/** The size limit of a door's answer. Rows beyond it are not charged; the cursor keeps them. */
export interface Room {
  /** An upper bound on the rows that fit with this many columns; no more rows are read. */
  readonly rowsMax: (columns: number) => number
  /** How many of these rows fit, from the first; may refuse a page if not even one row fits. */
  readonly rowsThatFit: (rows: readonly Buffer[], columns: readonly string[]) => number
}

/** The common part of every answer about a page. */
export interface PageHead {
  readonly version: Version
  /** Null for a page that a quota cut: the same request may return more rows later. */
  readonly tag: string | null
  readonly format: PageFormat
  /** The part of the dataset that the caller sees (`scope.ts`); null = all of it. */
  readonly scope: string | null
}

/** A page of paid rows. */
export interface Page extends PageHead {
  readonly kind: 'page'
  /** UTF-8 in the page's format, in stored order, all paid; Parquet rows are one file. */
  readonly rows: readonly Buffer[]
  /** The rows' columns, in order. */
  readonly columns: readonly string[]
  readonly nextCursor: string | null
  /** Why the page is shorter than requested although more rows follow. */
  readonly cut: 'size' | 'quota' | null
  /** Why the page is empty; null if not requested or unknown. */
  readonly explanation: EmptyReason | null
  /** After every charge for the page; undefined if no rows are counted. */
  readonly quota: QuotaStatus | undefined
}

export type PageAnswer = (PageHead & { readonly kind: 'unchanged' | 'checked' }) | Page
