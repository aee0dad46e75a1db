import { correctable } from '../../columns/correction.js'
import type { Access } from '../../access/access.js'
import { callName } from '../../columns/call-text.js'
import type { Call } from '../../columns/call-text.js'
import { prefixLengthMax } from '../../columns/codes.js'
import type { CodeLabels, CodeLevel, CodeNames } from '../../columns/codes.js'
import type { Column } from '../../columns/column.js'
import {
  columnGroups,
  findAggregate,
  groupMistake,
  groupNames,
  isGroupFunction,
  isGroupable,
  meantFunction,
} from '../../columns/functions.js'
import type { GroupFunction } from '../../columns/functions.js'
import { badRequest } from '../../errors.js'
import { didYouMean, nearestNames, quoted } from '../../text.js'
import { visibleColumn } from '../check-parts.js'
import type { GroupBy } from '../summary.js'
import {
  groupCallKey,
  callText,
  eachOnce,
  findPartColumn,
  partError,
  plainCallText,
  writtenCall,
} from './part-column.js'
import { groupsMax } from './raw-summary.js'
import type { RawSummary } from './raw-summary.js'

/** The argument that has the groups, for messages. */
type GroupArgument = 'group' | 'pivot'

/** The groups of which the keys are codes. */
const codeGroups: readonly GroupBy['by']['kind'][] = ['value', 'prefix', 'level']

/** The characters of a date that each part has, as `prefix` would take them. */
const dateLengths: Partial<Record<GroupFunction, string>> = { year: '4', month: '7', day: '10' }

/**
 * Resolves what rows are grouped by, with the names of codes if they are asked for and the registry
 * has them.
 * @throws bad_request with the nearest right text
 */
export function readGroups(access: Access, raw: RawSummary): readonly GroupBy[] {
  const { group: calls } = raw
  if (calls.length > groupsMax) {
    throw badRequest(`group takes at most ${groupsMax} elements, got ${calls.length}.`)
  }
  const keys = calls.map(groupCallKey)
  const texts = calls.map(writtenCall)
  const twice = calls.find((call, index) => keys.indexOf(groupCallKey(call)) !== index)
  if (twice) {
    const first = texts.filter((_, index) => keys.indexOf(keys[index] ?? '') === index)
    throw correctable(`group names ${quoted(writtenCall(twice))} twice. Name it once.`, {
      kind: 'arguments',
      meant: { group: first },
    })
  }
  return calls.map((call) => {
    const group = readGroup(access, call, raw, 'group')
    const { labels } = group.column
    const isCode = codeGroups.includes(group.by.kind)
    return { ...group, labels: isCode && labels ? labelsIn(labels, raw.labels) : null }
  })
}

/**
 * Resolves one group, without the names of codes.
 * @throws bad_request with the nearest right text
 */
export function readGroup(
  access: Access,
  call: Call,
  raw: RawSummary,
  key: GroupArgument,
): PlainGroup {
  const leveled = call.alias === null ? undefined : visibleColumn(access, call.alias)
  if (call.alias !== null && (!leveled || call.operands !== null)) {
    const detail =
      `${key}: ${quoted(call.text)} can't be renamed to ${quoted(call.alias)}; ` +
      'only measures can.'
    const written = raw[key].map((each) => (each === call ? each.text : writtenCall(each)))
    throw correctable(detail, { kind: 'arguments', meant: { [key]: written } })
  }
  if (leveled) return levelGroup(leveled, call, key)
  return call.operands === null ? valueGroup(access, call, key) : partGroup(access, call, raw, key)
}

/** The names in the language that is asked for; null if none are. */
export function labelsIn(labels: CodeLabels, asked: RawSummary['labels']): CodeNames | null {
  if (asked === false) return null
  return asked === 'ru' ? labels.russian : labels.plain
}

/** Of a call, after its column. */
type Arguments = NonNullable<Call['operands']>

type PlainGroup = Omit<GroupBy, 'labels'>

/** `okved:section`, a level of a column of codes. */
function levelGroup(column: Column, call: Call, key: GroupArgument): PlainGroup {
  const level = column.levels.find(({ name }) => name === call.name)
  if (!level) {
    const names = column.levels.map(({ name }) => name)
    const has = names.length === 0 ? 'has no levels' : `has the levels ${names.join(', ')}`
    const [near] = nearestNames(call.name, names)
    const detail =
      `${key}: ${quoted(writtenCall(call))} is no level: ${column.name} ${has}.` +
      didYouMean(call.name, names)
    if (near === undefined) throw badRequest(detail)
    const meant = `${callName(column.name)}:${callName(near)}`
    throw correctable(detail, { kind: 'part', key, written: writtenCall(call), meant })
  }
  const name = `${column.name}:${level.name}`
  return 'length' in level
    ? { name, column, by: { kind: 'prefix', length: level.length } }
    : { name, column, by: { kind: 'level', uppers: level.uppers } }
}

function valueGroup(access: Access, call: Call, key: GroupArgument): PlainGroup {
  const part = partNamed(access, call.name)
  if (part !== undefined) {
    throw partError(`${key}: write ${quoted(call.name)} as ${part}.`, key, call, part)
  }
  const column = findPartColumn(access, call.name, key, call)
  if (isGroupable(column)) return { name: column.name, column, by: { kind: 'value' } }
  throw badRequest(`${key}: rows can't be grouped by ${column.name} (${column.rules.shown}).`)
}

/**
 * `prefix(okved,2)` for `okved.class` and `month(day)` for `day.month`, if the column has such a
 * level or part and no such column is.
 */
function partNamed(access: Access, name: string): string | undefined {
  const dot = name.lastIndexOf('.')
  if (dot === -1 || visibleColumn(access, name)) return undefined
  const column = visibleColumn(access, name.slice(0, dot))
  if (!column) return undefined
  const part = columnGroups(column).find((each) => each === name.slice(dot + 1).toLowerCase())
  if (part === undefined || part === 'prefix') return levelPrefix(column, name.slice(dot + 1))
  return plainCallText(part, column.name)
}

function levelPrefix(column: Column, levelName: string): string | undefined {
  const level = column.levels.find(({ name }) => name === levelName)
  return level && levelText(column.name, level)
}

/** The group of a level of codes, for requests and descriptions. */
export function levelText(column: string, level: CodeLevel): string {
  return 'length' in level
    ? plainCallText('prefix', column, String(level.length))
    : `${callName(column)}:${callName(level.name)}`
}

function partGroup(access: Access, call: Call, raw: RawSummary, key: GroupArgument): PlainGroup {
  const { name, operands } = call
  if (!isGroupFunction(name)) throw unknownFunction(access, call, raw, key)
  const [[first, ...divisors] = [], ...others] = operands ?? []
  if (divisors.length > 0) throw badRequest(`${key}: ${name} takes one column, not a quotient.`)
  const column = findPartColumn(access, first?.name ?? '', key, call)
  const mistake = groupMistake(name, column)
  if (mistake !== undefined) {
    const meant = meantGroup(column, others)
    const detail = `${key}: ${mistake}.${meant === undefined ? '' : ` Write ${meant}`}`
    const isLength = Object.values(dateLengths).includes(others[0]?.[0]?.name ?? '')
    const isPart = isLength && meant !== callName(column.name)
    const certainty = isPart ? ({ isSame: true } as const) : {}
    throw meant === undefined ? badRequest(detail) : partError(detail, key, call, meant, certainty)
  }
  if (name === 'prefix') return { name: call.text, column, by: prefixOf(call, column, others, key) }
  if (others.length === 0) return { name: call.text, column, by: { kind: name } }
  const meant = plainCallText(name, column.name)
  throw partError(`${key}: ${name} takes one column. Write ${meant}`, key, call, meant)
}

/** What a wrong part of a column means: the column itself, or the part of a date of that length. */
function meantGroup(column: Column, rest: Arguments): string | undefined {
  const parts = columnGroups(column)
  const part = parts.find((each) => dateLengths[each] === rest[0]?.[0]?.name) ?? parts[0]
  if (part !== undefined && part !== 'prefix') return plainCallText(part, column.name)
  return isGroupable(column) ? callName(column.name) : undefined
}

function prefixOf(
  call: Call,
  column: Column,
  rest: Arguments,
  key: GroupArgument,
): Extract<GroupBy['by'], { kind: 'prefix' }> {
  const text = rest.length === 1 && rest[0]?.length === 1 ? (rest[0][0]?.name ?? '') : ''
  const length = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (length >= 1 && length <= prefixLengthMax) return { kind: 'prefix', length }
  const [level] = column.levels
  const first = level ? levelText(column.name, level) : plainCallText('prefix', column.name, '2')
  const meant = levelPrefix(column, text) ?? first
  throw partError(
    `${key}: prefix takes a column and a number of characters from 1 to ${prefixLengthMax}. ` +
      `Example: ${meant}`,
    key,
    call,
    meant,
  )
}

function unknownFunction(access: Access, call: Call, raw: RawSummary, key: GroupArgument): Error {
  const { [key]: others, measures } = raw
  const { name, operands } = call
  const found = visibleColumn(access, operands?.[0]?.[0]?.name ?? '')
  const level = found && levelPrefix(found, name)
  if (level !== undefined) {
    return partError(`${key}: write the level ${quoted(name)} as ${level}.`, key, call, level)
  }
  if (findAggregate(name)) {
    return correctable(`${key}: ${quoted(call.text)} is a measure. Move it to measures.`, {
      kind: 'arguments',
      meant: {
        [key]: others.filter((each) => each !== call).map(writtenCall),
        measures: eachOnce([...measures.map(writtenCall), call.text]),
      },
    })
  }
  const meant = isMiddle(call) ? undefined : meantFunction(name, groupNames)
  const detail =
    `${key}: there is no function ${quoted(name)}.` +
    `${meant === undefined ? '' : didYouMean(meant, [meant])} It has: ${groupNames.join(', ')}.`
  if (meant === undefined) return badRequest(detail)
  const plain = fromStart(operands)
  const certainty = plain === operands ? {} : ({ isSame: true } as const)
  return partError(detail, key, call, callText({ name: meant, operands: plain }), certainty)
}

/** `substr(okved,3,2)`: characters that are no prefix. */
function isMiddle({ name, operands }: Call): boolean {
  return /^substr/i.test(name) && operands?.length === 3 && operands[1]?.[0]?.name !== '1'
}

/** The column and length of `substr(okved,1,2)`. */
function fromStart(operands: Call['operands']): Call['operands'] {
  const [column, start, length] = operands ?? []
  return column && length && start?.[0]?.name === '1' ? [column, length] : operands
}
