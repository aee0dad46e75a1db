import type { Call, DirectedCall } from '../../columns/call-text.js'
import { columnOperators } from '../../columns/column.js'
import { findAggregate } from '../../columns/functions.js'
import type { Operator } from '../../columns/operators.js'
import { filterPredicates } from '../../columns/predicate.js'
import { ServiceError, badRequest } from '../../errors.js'
import { article, didYouMean, nearestNames, quoted } from '../../text.js'
import { meantOperator } from '../common-mistakes.js'
import type { GroupBy, HavingCondition, Measure, SummaryOrder } from '../summary.js'
import { callKey, callText, partError } from './part-column.js'
import type { PartKey } from './part-column.js'
import type { RawHaving } from './raw-summary.js'
import { resultColumn } from './result-column.js'

/** What a request asks for, with its elements as they were parsed. */
export interface Asked {
  readonly groups: readonly GroupBy[]
  readonly groupCalls: readonly Call[]
  readonly measures: readonly Measure[]
  readonly measureCalls: readonly Call[]
}

const comparisons: readonly Operator[] = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte']

/**
 * Resolves conditions on measures.
 * @throws bad_request naming the measure, its operators and an example
 */
export function readHaving(having: readonly RawHaving[], asked: Asked): readonly HavingCondition[] {
  return having.map((raw) => {
    const place = placeOf(raw.measure, asked)
    if (!place) throw notAsked(raw.measure, 'having', asked)
    if ('group' in place) {
      throw badRequest(
        `having looks at measures; ${quoted(raw.measure.text)} is a group. Use a filter instead.`,
      )
    }
    const measure = asked.measures[place.measure]
    if (!measure) throw new TypeError('a measure has no place')
    return { measure: place.measure, predicate: conditionOn(measure, raw) }
  })
}

function conditionOn(measure: Measure, { measure: call, operator, value }: RawHaving) {
  const column = resultColumn(measure)
  const allowed = comparisons.filter((name) => columnOperators(column).includes(name))
  const found = allowed.find((name) => name === operator)
  if (!found) {
    const meant = meantOperator(operator)
    const guess = meant !== undefined && allowed.includes(meant) ? ` Did you mean "${meant}"?` : ''
    throw badRequest(
      `having: ${quoted(measure.name)} (${column.rules.shown}) has no operator ` +
        `${quoted(operator)}.${guess} It has: ${allowed.join(', ')}.`,
      guess === ''
        ? undefined
        : {
            kind: 'part',
            key: 'having',
            written: `${call.text}.${operator}`,
            meant: `${call.text}.${meant}`,
          },
    )
  }
  try {
    const [predicate] = filterPredicates(column, found, [value])
    // Only `isdistinct` can mean every group.
    if (!predicate) throw new TypeError('a comparison has no condition')
    return predicate
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    const { shown, example } = column.rules
    const meant = `${call.text}.${found}.${example}`
    throw badRequest(
      `having: ${quoted(measure.name)} is ${article(shown)}, got ${quoted(value)}. ` +
        `Example: ${meant}`,
      { kind: 'part', key: 'having', written: `${call.text}.${found}.${value}`, meant },
    )
  }
}

/**
 * Resolves the order of groups.
 * @throws bad_request for what is not asked for, and for what is named twice
 */
export function readOrder(order: readonly DirectedCall[], asked: Asked): readonly SummaryOrder[] {
  const places = order.map(({ call, isDescending }) => {
    const by = placeOf(call, asked)
    if (!by || call.alias !== null) throw notAsked(call, 'order', asked)
    return { by, isDescending }
  })
  const keys = places.map(({ by }) => JSON.stringify(by))
  const twice = order.find((_, index) => keys.indexOf(keys[index] ?? '') !== index)
  if (twice) throw badRequest(`order names ${quoted(twice.call.text)} twice. Name it once.`)
  return places
}

/** By the key of the answer first, then by the text of the function. */
function placeOf(call: Call, asked: Asked): SummaryOrder['by'] | undefined {
  const key = callKey(call)
  if (call.operands === null) {
    const named = asked.measures.findIndex(({ name }) => name === call.name)
    if (named !== -1) return { measure: named }
  }
  const group = asked.groupCalls.findIndex((each) => callKey(each) === key)
  if (group !== -1) return { group }
  const measure = asked.measureCalls.findIndex((each) => callKey(each) === key)
  return measure === -1 ? undefined : { measure }
}

function notAsked(call: Call, key: PartKey, asked: Asked): ServiceError {
  const words = /^(.+?)[. ](asc|desc)$/i.exec(call.operands === null ? call.name : '')
  if (key === 'order' && words) {
    const [, name = '', direction = ''] = words
    const sign = direction.toLowerCase() === 'desc' ? '-' : ''
    const meant = sign + callText({ name, operands: null })
    return partError(`order: write ${quoted(call.text)} as ${meant}`, key, call, meant)
  }
  const groups = key === 'order' ? asked.groups.map(({ name }) => name) : []
  const names = [...groups, ...asked.measures.map(({ name }) => name)]
  const detail = `${key}: ${quoted(call.text)} is not asked for.`
  if (call.operands !== null && findAggregate(call.name)) {
    const add = `${detail} Add it to measures.`
    return badRequest(add, { kind: 'add-part', key: 'measures', meant: call.text })
  }
  const has = `${detail}${didYouMean(call.name, names)} It takes: ${names.join(', ')}.`
  const [near] = nearestNames(call.name, names)
  if (near === undefined) return badRequest(has)
  const meant = asked.measures.some(({ name }) => name === near)
    ? near
    : callText(asked.groupCalls[groups.indexOf(near)] ?? call)
  return partError(has, key, call, meant)
}
