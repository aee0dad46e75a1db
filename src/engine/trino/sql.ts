import type { Column } from '../../columns/column.js'
import type { Value } from '../../columns/filter-value.js'
import { doubleText, valueLiteral } from './literals.js'
import { literal } from './quote.js'

/** A part of a statement: its text with a `?` for each bound value, in the text's order. */
export interface Sql {
  readonly text: string
  /** Trino's `USING` takes expressions: each is a literal that `literals.ts` has written. */
  readonly values: readonly string[]
}

/** A statement's text from parts; texts are SQL of our own, and values keep their order. */
export function sql(texts: TemplateStringsArray, ...parts: readonly (Sql | string)[]): Sql {
  const values: string[] = []
  const text = texts.reduce((before, next, index) => {
    const part = parts[index - 1] ?? ''
    if (typeof part === 'string') return before + part + next
    values.push(...part.values)
    return before + part.text + next
  })
  return { text, values }
}

/** Parts with a separator between them. */
export function joined(parts: readonly (Sql | string)[], separator: string): Sql {
  const all = parts.map((part) => (typeof part === 'string' ? { text: part, values: [] } : part))
  return {
    text: all.map(({ text }) => text).join(separator),
    values: all.flatMap(({ values }) => values),
  }
}

/** A filter's value, bound in its column's own type. */
export function boundValue(column: Column, value: Value): Sql {
  return { text: '?', values: [valueLiteral(column, value)] }
}

/** A text, bound. */
export function boundText(text: string): Sql {
  return { text: '?', values: [literal(text)] }
}

/** A DOUBLE, bound. */
export function boundDouble(value: number): Sql {
  return { text: '?', values: [`DOUBLE '${doubleText(value)}'`] }
}

/** The text to send: values are bound by `EXECUTE IMMEDIATE … USING`. */
export function statementText({ text, values }: Sql): string {
  if (values.length === 0) return text
  return `EXECUTE IMMEDIATE ${literal(text)} USING ${values.join(', ')}`
}
