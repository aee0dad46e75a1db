import type { Column } from './column.js'
import type { ColumnAt, Side } from './formula.js'
import { aggregateFunctions, listedFunctions } from './functions.js'
import type { AggregateFunction } from './functions.js'

/** The most columns on one side of a quotient. */
const sideColumnsMax = 4

/**
 * Why a function can't be computed from these sides, of which two are a quotient; undefined if it
 * can. `written` is the function's name in the message, `history` the column that `@` looks at.
 */
export function operandMistake(
  name: AggregateFunction,
  written: string,
  sides: readonly Side[],
  history: Column | null,
): string | undefined {
  const { of, takes } = aggregateFunctions[name]
  const [first, second, ...others] = sides
  if (!first || others.length > 0) {
    return `${written} divides one column by one other: ${written}(a/b)`
  }
  if (second && takes === 'column') {
    return `${written} takes one column; ratio(a/b) divides sum(a) by sum(b)`
  }
  if (!second && takes === 'quotient') return `${written} needs two columns: ${written}(a/b)`
  const columns = sides.flatMap(({ terms }) => terms)
  const wrong = columns.find(({ column }) => !of.types.includes(column.rules.shown))
  if (wrong) return `${written} needs ${of.needs}; ${listed(wrong)}`
  if (!history && columns.some(({ at }) => at !== null)) {
    return '@ takes a value of the history column, which this dataset does not have'
  }
  const mistake = sides.map(sideMistake).find((each) => each !== undefined)
  if (mistake !== undefined) return mistake
  if (takes === 'two values') return growthMistake(first, second)
  if (!second) return singleMistake(written, first)
  return takes === 'quotient' || atOf(first) === atOf(second)
    ? undefined
    : `${written}(a/b) divides in each row: all its columns need the same @, as in ` +
        `${written}(a@2024/b@2024); ratio(a@2023/b@2024) divides sums of different rows`
}

/** The value that all columns of a side look at; null = every row. */
export function atOf({ terms: [first] }: Side): bigint | null {
  return first?.at ?? null
}

function listed({ column }: ColumnAt): string {
  return `${column.name} has ${listedFunctions(column)}`
}

function sideMistake({ terms: [first, ...others] }: Side): string | undefined {
  if (others.length >= sideColumnsMax) {
    return `a side of a quotient has at most ${sideColumnsMax} columns, got ${others.length + 1}`
  }
  return others.every(({ at }) => at === first?.at)
    ? undefined
    : 'all columns of a side need the same @, as in a@2024+b@2024'
}

function singleMistake(written: string, { factor, terms }: Side): string | undefined {
  return factor === null && terms.length === 1
    ? undefined
    : `${written} takes one column; columns are added up, and multiplied by a number, on the ` +
        'sides of a quotient only, as in ratio(a+b/c)'
}

function growthMistake(from: Side, to: Side | undefined): string | undefined {
  const example = 'growth takes one column at two values of the history: growth(c@2023/c@2024)'
  const [first, last] = [onlyColumn(from), onlyColumn(to)]
  if (!first || first.column !== last?.column) return example
  if (first.at === null || last.at === null) return example
  return first.at < last.at
    ? undefined
    : `growth needs the earlier value first, as in growth(c@2023/c@2024)`
}

function onlyColumn(side: Side | undefined): ColumnAt | undefined {
  return side?.factor === null && side.terms.length === 1 ? side.terms[0] : undefined
}
