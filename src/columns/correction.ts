import { ServiceError } from '../errors.js'
import type { ErrorCode, ServiceErrorOptions } from '../errors.js'

/** A filter in JSON. */
export interface FilterText {
  readonly column: string
  readonly op: string
  /** Operators such as `is_null` take none. */
  readonly value?: string | number | readonly (string | number | boolean)[]
}

/** How to correct the caller's question, for doors that show the corrected one. */
export type Correction =
  /** A column's name, in filters and select. */
  | {
      readonly kind: 'column'
      readonly written: string
      readonly meant: string
      /** What was written is the label of that column. */
      readonly isSame?: true
    }
  /** In the filters on this column only; an `example` replaces a value that can't be guessed. */
  | {
      readonly kind: 'operator' | 'example'
      readonly column: string
      readonly written: string | number
      readonly meant: string | number
    }
  /** Numbers in the filters on this column become texts. */
  | { readonly kind: 'as-text'; readonly column: string }
  /** In the place of the filters on this column with this operator. */
  | {
      readonly kind: 'filter'
      readonly column: string
      readonly operator: string
      readonly meant: FilterText
    }
  | { readonly kind: 'limit'; readonly meant: number }
  /** Also an example: any filter is accepted. */
  | { readonly kind: 'add-filter'; readonly filter: FilterText }
  /** An argument of this name. */
  | { readonly kind: 'drop'; readonly key: string }
  /** An argument of another name, unless that one is given as well. */
  | { readonly kind: 'rename'; readonly key: string; readonly meant: string }
  /** A part of a text, or of a list of texts, such as an element of `group` or `measures`. */
  | {
      readonly kind: 'part'
      readonly key: string
      readonly written: string
      readonly meant: string
      /** What is meant can't be known; this is of the right form. */
      readonly isExample?: true
      /** It means the same in other words. */
      readonly isSame?: true
    }
  /** One more element at the end of such a text or list. */
  | { readonly kind: 'add-part'; readonly key: string; readonly meant: string }
  /** Whole arguments by name, in the place of those given, and perhaps one more filter. */
  | {
      readonly kind: 'arguments'
      readonly meant: Readonly<Record<string, string | readonly string[]>>
      readonly filter?: FilterText
    }

/** A caller's mistake that has a correction. */
export class CorrectableError extends ServiceError {
  readonly correction: Correction

  constructor(
    code: ErrorCode,
    detail: string,
    correction: Correction,
    options: ServiceErrorOptions = {},
  ) {
    super(code, detail, options)
    this.correction = correction
  }
}

/** The error for a mistake; undefined = only the caller knows what is right. */
export function correctable(detail: string, correction: Correction | undefined): ServiceError {
  return correction
    ? new CorrectableError('bad_request', detail, correction)
    : new ServiceError('bad_request', detail)
}
