import type { Column } from '../../../columns/column.js'
import type { Value } from '../../../columns/filter-value.js'
import type { ListKind, Predicate } from '../../../columns/predicate.js'
import type { Parameters } from '../../sql/dialect.js'
import { bindList, bindText, bindValue } from '../bind.js'
import type { BoundValue } from '../bind.js'
import { duckdb } from '../dialect.js'

/**
 * DuckDB compares lists up to this long value by value while it scans. Its own IN of five or more
 * values is a join, which loses the stored order but is far faster for long lists.
 */
const shortListMax = 16
/** DuckDB prunes row groups by parameters but not by a list; more parameters cost more to plan. */
const parametersMax = 1100

/** Collects the values of one statement, each bound to the next `$n`. */
export class SqlParameters implements Parameters {
  readonly dialect = duckdb
  readonly values: BoundValue[] = []

  add(bound: BoundValue): `$${number}` {
    this.values.push(bound)
    return `$${this.values.length}`
  }

  value(column: Column, value: Value): string {
    return this.add(bindValue(column, value))
  }

  text(text: string): string {
    return this.add(bindText(text))
  }

  comparesEach(_: Column, count: number): boolean {
    return count <= shortListMax
  }

  list(kind: ListKind, column: Column, values: readonly Value[]): string {
    const prunes = kind === 'in' && this.values.length + values.length <= parametersMax
    if (prunes || values.length <= shortListMax) {
      return `(${values.map((value) => this.value(column, value)).join(', ')})`
    }
    const { bound, listSql } = bindList(column, values)
    return `(SELECT unnest(${listSql(this.add(bound))}))`
  }
}

/** True for a condition that becomes a join, which loses the order of rows. */
export function isJoin(predicate: Predicate): boolean {
  return 'values' in predicate && predicate.values.length > shortListMax
}
