import type { QuotaStatus } from '../access/allowance.js'
import type { PageFormat } from '../query/page-format.js'
import type { RawQuestion } from '../query/raw-question.js'
import type { Version } from '../versions/version.js'
import type { EmptyReason } from './empty-answer.js'

/** What a door asks of one dataset. */
export interface PageRequest {
  readonly dataset: string
  /** Reads the question; called only when the caller may ask one. */
  readonly question: () => RawQuestion
  /** The entity tags that the caller has, as `If-None-Match` gives them. */
  readonly knownTags?: string | undefined
  /** Every check, but neither query nor charge (HEAD). */
  readonly checkOnly?: boolean
  /** Rows of a page when the question does not say; left out = as the dataset does. */
  readonly usualLimit?: number
  /** How much the door can send; left out = any page. */
  readonly room?: Room
  /** An empty first page says what left it empty: only where that is free, or for a row, too. */
  readonly explainEmpty?: 'free' | 'paid'
}

/** What fits in one answer of a door. Rows beyond are neither charged nor passed by the cursor. */
export interface Room {
  /** No more rows of so many columns can fit: more are not even read. */
  readonly rowsMax: (columns: number) => number
  /** How many of these rows fit, from the first on; it may refuse a page that not even one fits. */
  readonly rowsThatFit: (rows: readonly Buffer[], columns: readonly string[]) => number
}

/** What every answer about a page has. */
export interface PageHead {
  readonly version: Version
  /** Null for a page that a quota cut: the same request may get more later. */
  readonly tag: string | null
  readonly format: PageFormat
}

/** A page of rows, paid for. */
export interface Page extends PageHead {
  readonly kind: 'page'
  /** As UTF-8 in the format, in stored order, all paid for; those of Parquet are one file. */
  readonly rows: readonly Buffer[]
  /** Their columns, in order. */
  readonly columns: readonly string[]
  readonly nextCursor: string | null
  /** What made the page shorter than asked for, where more rows follow. */
  readonly cut: 'size' | 'quota' | null
  /** Why there is no row; null where that was not asked, or is not known. */
  readonly explanation: EmptyReason | null
  /** After every charge for the page; undefined where no rows are counted. */
  readonly quota: QuotaStatus | undefined
}

export type PageAnswer = (PageHead & { readonly kind: 'unchanged' | 'checked' }) | Page
