import type { Access } from '../../access/access.js'
import type { Call } from '../../columns/call-text.js'
import { prefixLengthMax } from '../../columns/codes.js'
import type { Column } from '../../columns/column.js'
import {
  findAggregate,
  groupMistake,
  groupNames,
  isGroupFunction,
  isGroupable,
  meantFunction,
} from '../../columns/functions.js'
import { badRequest } from '../../errors.js'
import { didYouMean, quoted } from '../../text.js'
import { visibleColumn } from '../check-parts.js'
import type { GroupBy } from '../summary.js'
import { callKey, callText, findPartColumn, partError } from './part-column.js'
import { groupsMax } from './raw-summary.js'

const key = 'group'

/**
 * Resolves what rows are grouped by; `withLabels` adds the names of codes where the registry has
 * them.
 * @throws bad_request with the nearest right text
 */
export function readGroups(
  access: Access,
  calls: readonly Call[],
  withLabels: boolean,
): readonly GroupBy[] {
  if (calls.length > groupsMax) {
    throw badRequest(`group takes at most ${groupsMax} elements, got ${calls.length}.`)
  }
  const keys = calls.map(callKey)
  const twice = calls.find((call, index) => keys.indexOf(callKey(call)) !== index)
  if (twice) throw badRequest(`group names ${quoted(twice.text)} twice. Name it once.`)
  return calls.map((call) => {
    if (call.alias !== null) {
      throw badRequest(
        `group: ${quoted(call.text)} can't be renamed to ${quoted(call.alias)}; only measures can.`,
      )
    }
    const group = call.operands === null ? valueGroup(access, call) : partGroup(access, call)
    const { labels } = group.column
    const isCode = group.by.kind === 'value' || group.by.kind === 'prefix'
    return { ...group, labels: withLabels && isCode ? labels : null }
  })
}

type PlainGroup = Omit<GroupBy, 'labels'>

function valueGroup(access: Access, call: Call): PlainGroup {
  const level = levelNamed(access, call.name)
  if (level !== undefined) {
    throw partError(`group: write the level ${quoted(call.name)} as ${level}.`, key, call, level)
  }
  const column = findPartColumn(access, call.name, key, call)
  if (isGroupable(column)) return { name: column.name, column, by: { kind: 'value' } }
  throw badRequest(`group: rows can't be grouped by ${column.name} (${column.rules.shown}).`)
}

/** `prefix(okved,2)` for `okved.class`, if the column has such a level and no such column is. */
function levelNamed(access: Access, name: string): string | undefined {
  const dot = name.lastIndexOf('.')
  if (dot === -1 || visibleColumn(access, name)) return undefined
  const column = visibleColumn(access, name.slice(0, dot))
  return column && levelPrefix(column, name.slice(dot + 1))
}

function levelPrefix(column: Column, levelName: string): string | undefined {
  const level = column.levels.find(({ name }) => name === levelName)
  return level && prefixText(column.name, level.length)
}

/** The group of a level of codes, for requests and descriptions. */
export function prefixText(column: string, length: number): string {
  return callText({ name: 'prefix', operands: [[column], [String(length)]] })
}

function partGroup(access: Access, call: Call): PlainGroup {
  const { name, operands } = call
  if (!isGroupFunction(name)) throw unknownFunction(access, call)
  const [[first = '', ...divisors] = [], ...others] = operands ?? []
  if (divisors.length > 0) throw badRequest(`group: ${name} takes one column, not a quotient.`)
  const column = findPartColumn(access, first, key, call)
  const mistake = groupMistake(name, column)
  if (mistake !== undefined) throw badRequest(`group: ${mistake}.`)
  if (name === 'prefix') return { name: call.text, column, by: prefixOf(call, column, others) }
  if (others.length === 0) return { name: call.text, column, by: { kind: name } }
  const meant = callText({ name, operands: [[column.name]] })
  throw partError(`group: ${name} takes one column. Write ${meant}`, key, call, meant)
}

function prefixOf(
  call: Call,
  column: Column,
  rest: readonly (readonly string[])[],
): Extract<GroupBy['by'], { kind: 'prefix' }> {
  const text = rest.length === 1 && rest[0]?.length === 1 ? (rest[0][0] ?? '') : ''
  const length = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (length >= 1 && length <= prefixLengthMax) return { kind: 'prefix', length }
  const meant = levelPrefix(column, text) ?? prefixText(column.name, column.levels[0]?.length ?? 2)
  throw partError(
    `group: prefix takes a column and a number of characters from 1 to ${prefixLengthMax}. ` +
      `Example: ${meant}`,
    key,
    call,
    meant,
  )
}

function unknownFunction(access: Access, call: Call): Error {
  const { name, operands } = call
  const [column = ''] = operands?.[0] ?? []
  const found = visibleColumn(access, column)
  const level = found && levelPrefix(found, name)
  if (level !== undefined) {
    return partError(`group: write the level ${quoted(name)} as ${level}.`, key, call, level)
  }
  if (findAggregate(name)) {
    return badRequest(`group: ${quoted(call.text)} is a measure. Move it to measures.`)
  }
  const meant = meantFunction(name, groupNames)
  const detail =
    `group: there is no function ${quoted(name)}.` +
    `${meant === undefined ? '' : didYouMean(meant, [meant])} It has: ${groupNames.join(', ')}.`
  return meant === undefined
    ? badRequest(detail)
    : partError(detail, key, call, callText({ name: meant, operands }))
}
