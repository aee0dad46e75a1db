import type { Access } from '../../access/access.js'
import { callName } from '../../columns/call-text.js'
import type { Call } from '../../columns/call-text.js'
import type { Column } from '../../columns/column.js'
import { badRequest } from '../../errors.js'
import type { ServiceError } from '../../errors.js'
import { didYouMean, nearestNames, quoted } from '../../text.js'

/** The parameters of a summary that are lists of calls. */
export type PartKey = 'group' | 'measures' | 'having' | 'order' | 'by'

/** The visible column of a name. */
export function visibleColumn(
  { columns }: Pick<Access, 'columns'>,
  name: string,
): Column | undefined {
  return columns.find((column) => column.name === name)
}

/**
 * Returns the visible column that an element names. A hidden column is refused exactly like a
 * column that does not exist.
 * @throws bad_request with the nearest name
 */
export function findPartColumn(access: Access, name: string, key: PartKey, call: Call): Column {
  const column = visibleColumn(access, name)
  if (column) return column
  const names = access.columns.map((each) => each.name)
  const [near] = nearestNames(name, names)
  const detail =
    `${key}: there is no column ${quoted(name)}.${didYouMean(name, names)} ` +
    `GET /v1/${access.dataset.name}/schema lists the columns.`
  if (near === undefined) throw badRequest(detail)
  const operands = call.operands?.map((each) => each.map((one) => (one === name ? near : one)))
  const meant = { ...call, ...(operands ? { operands } : { name: near }) }
  throw partError(detail, key, call, callText(meant))
}

/** An element of a list, written anew without its alias. */
export function callText({ name, operands }: Pick<Call, 'name' | 'operands'>): string {
  if (operands === null) return callName(name)
  return `${name}(${operands.map((each) => each.map(callName).join('/')).join(',')})`
}

/** The error for an element of which the caller means another text. */
export function partError(detail: string, key: PartKey, call: Call, meant: string): ServiceError {
  return badRequest(detail, { kind: 'part', key, written: call.text, meant })
}

/** Equal for calls that mean the same, however they are quoted and spaced. */
export function callKey({ name, operands }: Pick<Call, 'name' | 'operands'>): string {
  return JSON.stringify([name, operands])
}
