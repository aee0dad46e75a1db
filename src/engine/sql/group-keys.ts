import type { Column } from '../../columns/column.js'
import { resultColumn } from '../../query/summary/result-column.js'
import type { GroupBy, ServedValue } from '../../query/summary.js'
import type { Dialect, Parameters } from './dialect.js'
import { servedText } from './encode.js'
import { groupKey } from './values.js'
import type { GroupKey } from './values.js'

/** The keys of a statement's groups, and the tables that they need beside the rows. */
export class GroupKeys {
  readonly #dialect: Dialect
  readonly #sqlOf: (column: Column) => string
  readonly #tables: (readonly (readonly [string, string])[])[] = []
  /** The text that each table is joined by. */
  readonly #texts: string[] = []

  constructor(dialect: Dialect, sqlOf: (column: Column) => string) {
    this.#dialect = dialect
    this.#sqlOf = sqlOf
  }

  /** The key of a group, in which values that it does not keep are one. */
  of(group: GroupBy): GroupKey {
    const { by, kept } = group
    if (by.kind === 'rest') {
      const key = `(${this.placeOf(by.of, by.of.kept ?? [])} IS NULL)`
      return { key, served: (isRest) => `nullif(${isRest}, false)` }
    }
    const whole = this.#plain(group)
    if (!kept) return whole
    const key = `CASE WHEN ${this.placeOf(group, kept)} IS NOT NULL THEN ${whole.key} END`
    return { ...whole, key }
  }

  /** SQL of the place, as a text, of a group's value among these; NULL for any other. */
  placeOf(group: GroupBy, values: readonly ServedValue[]): string {
    const { key, served } = this.#plain(group)
    const text = servedText(this.#dialect, resultColumn(group).type, served(key))
    const pairs = values.flatMap((value, place) =>
      value === null ? [] : [[value, String(place)] as const],
    )
    const place = this.#textFor(text, pairs)
    const ofNull = values.indexOf(null)
    return ofNull === -1 ? place : `CASE WHEN ${text} IS NULL THEN '${ofNull}' ELSE ${place} END`
  }

  /** The joins of the tables, to write behind the rows. */
  joins(parameters: Parameters): string {
    const joins = this.#tables.map((table, index) => {
      const pairs = this.#dialect.pairs(parameters.text(JSON.stringify(table)))
      return ` LEFT JOIN ${pairs} AS u${index} ON u${index}.code = ${this.#texts[index]}`
    })
    return joins.join('')
  }

  #plain(group: GroupBy): GroupKey {
    const { column, by } = group
    const sql = this.#sqlOf(column)
    if (by.kind !== 'level') return groupKey(this.#dialect, group, sql)
    const code = servedText(this.#dialect, column.type, sql)
    return groupKey(this.#dialect, group, this.#textFor(code, [...by.uppers.codes]))
  }

  /** SQL of the second text of the pair that begins with this text. */
  #textFor(text: string, pairs: readonly (readonly [string, string])[]): string {
    const index = this.#tables.push(pairs) - 1
    this.#texts.push(text)
    return `u${index}.upper_code`
  }
}
