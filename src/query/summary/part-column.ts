import { correctable } from '../../columns/correction.js'
import type { Access } from '../../access/access.js'
import { callName, operandText } from '../../columns/call-text.js'
import type { Call } from '../../columns/call-text.js'
import type { Column } from '../../columns/column.js'
import { plainOperand, sideText } from '../../columns/formula.js'
import type { Operand } from '../../columns/formula.js'
import { badRequest } from '../../errors.js'
import type { ServiceError } from '../../errors.js'
import { quoted } from '../../text.js'
import { meantColumn, visibleColumn } from '../check-parts.js'

/** The parameters of a summary that are lists of calls. */
export type PartKey = 'group' | 'pivot' | 'measures' | 'having' | 'order' | 'by'

/**
 * Returns the visible column that an element names. A hidden column is refused exactly like a
 * column that does not exist.
 * @throws bad_request with the nearest name
 */
export function findPartColumn(access: Access, name: string, key: PartKey, call: Call): Column {
  const column = visibleColumn(access, name)
  if (column) return column
  const { guess, meant: near, certainty } = meantColumn(access, name)
  const detail =
    `${key}: there is no column ${quoted(name)}.${guess} ` +
    `GET /v1/${access.dataset.name}/schema lists the columns.`
  if (near === undefined) throw badRequest(detail)
  const operands = call.operands?.map((each) => each.map((one) => renamed(one, name, near)))
  const meant = { ...call, ...(operands ? { operands } : { name: near }) }
  throw partError(detail, key, call, callText(meant), certainty)
}

function renamed(operand: Operand, from: string, to: string): Operand {
  if (operand.name === from || !operand.side) {
    return operand.name === from ? plainOperand(to) : operand
  }
  const terms = operand.side.terms.map((term) =>
    term.name === from ? { ...term, name: to } : term,
  )
  return { name: operand.name, side: { ...operand.side, terms } }
}

/** An element of a list, written without its alias. */
export function callText({ name, operands }: Pick<Call, 'name' | 'operands'>): string {
  if (operands === null) return callName(name)
  return `${name}(${operands.map((each) => each.map(operandText).join('/')).join(',')})`
}

/** A group, which may be the level of a column. */
export function groupText(call: Call): string {
  return call.alias === null ? callText(call) : `${callName(call.alias)}:${callText(call)}`
}

/** A function of one column, and maybe a number or text after a comma, as a request has it. */
export function plainCallText(name: string, ...names: readonly string[]): string {
  return callText({ name, operands: names.map((each) => [plainOperand(each)]) })
}

/** An element as a request has it, its alias included. */
export function writtenCall({ alias, text }: Call): string {
  return alias === null ? text : `${callName(alias)}:${text}`
}

const directions = /^(?:asc|desc)$/i
const nameAndDirection = /^(.+?)[. ](asc|desc)(?: nulls (?:first|last))?$/i
/** A minus or dash that is no hyphen. */
const otherMinus = /^[\u2212\u2013\u2014](.+)$/s

/**
 * `-2400` for `2400 desc`, `2400:desc`, `desc(2400)` and `−2400`, if that is no column; undefined
 * for a text without a direction.
 */
export function meantDirection({ alias, name, operands }: Call): string | undefined {
  const directed = (column: string, direction: string) =>
    (direction.toLowerCase() === 'desc' ? '-' : '') + callName(column.trim())
  if (directions.test(name)) {
    const [column, ...others] =
      operands === null ? [alias] : operands.flat().map((each) => each.name)
    return column && others.length === 0 ? directed(column, name) : undefined
  }
  if (alias !== null || operands !== null) return undefined
  const [, negated] = otherMinus.exec(name) ?? []
  if (negated !== undefined) return directed(negated, 'desc')
  const [, plain, direction = ''] = nameAndDirection.exec(name) ?? []
  return plain === undefined ? undefined : directed(plain, direction)
}

/** The texts of a list, each once. */
export function eachOnce(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}

/** The error for an element of which the caller means another text. */
export function partError(
  detail: string,
  key: PartKey,
  call: Call,
  meant: string,
  certainty: { readonly isExample?: true; readonly isSame?: true } = {},
): ServiceError {
  return correctable(detail, { kind: 'part', key, written: call.text, meant, ...certainty })
}

/** Equal for groups that mean the same: `okved:section` is a level of a column. */
export function groupCallKey(call: Call): string {
  return JSON.stringify([call.alias, callKey(call)])
}

/** Equal for calls that mean the same, however they are quoted and spaced. */
export function callKey({ name, operands }: Pick<Call, 'name' | 'operands'>): string {
  const keys = operands?.map((each) =>
    each.map((operand) =>
      operand.side ? sideText(operand.side, (each) => JSON.stringify(each)) : operand.name,
    ),
  )
  return JSON.stringify([name, keys])
}
