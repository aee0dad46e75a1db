import type { Column } from '../../columns/column.js'
import { isFloat } from '../../columns/data-type.js'
import type { Value } from '../../columns/filter-value.js'
import type { ListKind } from '../../columns/predicate.js'
import type { Parameters } from '../sql/dialect.js'
import { literal } from '../sql/quote.js'
import { trino } from './dialect.js'
import { valueLiteral } from './literals.js'

/** A statement: its text with a `?` for each bound value, in the text's order. */
export interface Statement {
  readonly text: string
  /** Trino's `USING` takes expressions: each is a literal that `literals.ts` has written. */
  readonly values: readonly string[]
}

/** The cells of a row, in the texts that the statement makes. */
export type TrinoRow = readonly (string | null)[]

/** Runs one statement and returns its rows. */
export type RunTrino = (statement: Statement) => Promise<readonly TrinoRow[]>

/** Collects the values of one statement. Its parts must be written in the order of the text. */
export class TrinoParameters implements Parameters {
  readonly dialect = trino
  readonly values: string[] = []

  value(column: Column, value: Value): string {
    this.values.push(valueLiteral(column, value))
    return '?'
  }

  text(text: string): string {
    this.values.push(literal(text))
    return '?'
  }

  comparesEach({ type }: Column): boolean {
    return isFloat(type)
  }

  list(_: ListKind, column: Column, values: readonly Value[]): string {
    return `(${values.map((value) => this.value(column, value)).join(', ')})`
  }
}

/** A statement whose text `write` makes with its parameters. */
export function statement(write: (parameters: TrinoParameters) => string): Statement {
  const parameters = new TrinoParameters()
  const text = write(parameters)
  return { text, values: parameters.values }
}

/** The text to send: values are bound by `EXECUTE IMMEDIATE … USING`. */
export function statementText({ text, values }: Statement): string {
  if (values.length === 0) return text
  return `EXECUTE IMMEDIATE ${literal(text)} USING ${values.join(', ')}`
}
