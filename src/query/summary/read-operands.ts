import type { Access } from '../../access/access.js'
import type { Call } from '../../columns/call-text.js'
import type { Column } from '../../columns/column.js'
import { meantSide, resolveSide } from '../../columns/formula.js'
import type { Operand, Side } from '../../columns/formula.js'
import { findAggregate } from '../../columns/functions.js'
import { operandMistake } from '../../columns/operand-rules.js'
import { badRequest } from '../../errors.js'
import { nearestNames, quoted } from '../../text.js'
import { visibleColumn } from '../check-parts.js'
import type { Aggregate } from '../summary.js'
import { callText, findPartColumn, partError } from './part-column.js'

const key = 'measures'

/** The aggregate of sides that `operandMistake` has checked. */
export function aggregateOf(
  { name, percent }: NonNullable<ReturnType<typeof findAggregate>>,
  [first, second]: readonly Side[],
): Aggregate {
  const [only] = first?.terms ?? []
  if (!first || !only) throw new TypeError(`${name} has no column`)
  const { column, at } = only
  const quotient = { dividend: first, divisor: second ?? first }
  const of = second ? quotient : { column, at }
  switch (name) {
    case 'count':
    case 'distinct':
    case 'sum':
    case 'min':
    case 'max':
      return { kind: name, of: { column, at } }
    case 'avg':
      return { kind: 'avg', of }
    case 'median':
      return { kind: 'percentile', percent: 50, of }
    case 'pN':
      return { kind: 'percentile', percent: percent ?? 50, of }
    case 'ratio':
    case 'growth':
      return { kind: name, of: quotient }
  }
}

/**
 * The columns that an operand names.
 * @throws bad_request for a column that does not exist, and for what is no formula
 */
export function readSide(access: Access, operand: Operand, call: Call): Side {
  const isColumn = (name: string) => visibleColumn(access, name) !== undefined
  const side = meantSide(operand, isColumn)
  const isFormula = side?.terms.every(({ name }) => isColumn(name)) ?? false
  if (!isFormula && /[+*@-]/.test(operand.name)) {
    // A column with such a sign in its name may be meant.
    const names = access.columns.map(({ name }) => name).filter((name) => /[+*@-]/.test(name))
    const isOther = nearestNames(operand.name, names).length > 0
    if (isOther) findPartColumn(access, operand.name, key, call)
    if (!side) throw notAFormula(operand)
  }
  const find = (name: string) => findPartColumn(access, name, key, call)
  const found = side ? resolveSide(side, find) : undefined
  return (
    found ?? {
      factor: null,
      terms: [{ column: find(operand.name), at: null, isSubtracted: false }],
    }
  )
}

function notAFormula({ name }: Operand): Error {
  return badRequest(
    `measures: ${quoted(name)} can't be read. A side of a quotient is up to 4 columns joined by ` +
      '+ or -, maybe with a number in front that multiplies all of it: 365*a+b. @ takes a whole ' +
      'number: a@2024. A column with + - * or @ in its name needs quotes, and a number that is ' +
      'also the name of a column a point: 2110.0*a.',
  )
}

/** The error for operands with a mistake; in a correction, columns, factors and `@` stay. */
export function operandError(
  mistake: string,
  call: Call,
  sides: readonly Side[],
  history: Column | null,
): Error {
  const [operands = []] = call.operands ?? []
  if (call.name === 'growth' && !operandMistake('growth', 'growth', sides.toReversed(), history)) {
    const meant = callText({ name: 'growth', operands: [operands.toReversed()] })
    return partError(`measures: ${mistake}. Write ${meant}`, key, call, meant, { isSame: true })
  }
  const isSum = findAggregate(call.name)?.name === 'sum' && sides.length === 2
  if (!isSum || operandMistake('ratio', 'ratio', sides, history)) {
    return badRequest(`measures: ${mistake}.`)
  }
  const meant = callText({ name: 'ratio', operands: [operands] })
  const detail = `measures: ${mistake}. The sum of one by the sum of the other is ${meant}.`
  return partError(detail, key, call, meant, { isExample: true })
}

/** The text of a function; a URL may have decoded its `+` to spaces. */
export function writtenText(access: Access, { text, name, operands }: Call): string {
  const isColumn = (column: string) => visibleColumn(access, column) !== undefined
  let isDecoded = false
  const meant = (operands ?? []).map((each) =>
    each.map((operand) => {
      const side = meantSide(operand, isColumn)
      const signs = operand.name.match(/[+-]/g) ?? []
      if (side && side.terms.length - 1 > signs.length) isDecoded = true
      return { ...operand, side }
    }),
  )
  return isDecoded ? callText({ name, operands: meant }) : text
}

/** The column that `@` looks at; null without one that the caller may see. */
export function historyOf({
  columns,
  version,
}: Pick<Access, 'columns' | 'version'>): Column | null {
  return columns.find((column) => column === version.history) ?? null
}
