import { correctable } from '../../columns/correction.js'
import { callName } from '../../columns/call-text.js'
import type { Call, DirectedCall } from '../../columns/call-text.js'
import { columnOperators } from '../../columns/column.js'
import { findAggregate } from '../../columns/functions.js'
import type { Operator } from '../../columns/operators.js'
import { filterPredicates } from '../../columns/predicate.js'
import { ServiceError, badRequest } from '../../errors.js'
import { article, didYouMean, nearestNames, quoted } from '../../text.js'
import { meantOperator } from '../common-mistakes.js'
import type { GroupBy, HavingCondition, Measure, SummaryOrder } from '../summary.js'
import {
  callKey,
  groupCallKey,
  groupText,
  meantDirection,
  partError,
  writtenCall,
} from './part-column.js'
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
    if ('group' in place) throw havingGroup(raw, having, asked.groups[place.group])
    const measure = asked.measures[place.measure]
    if (!measure) throw new TypeError('a measure has no place')
    return { measure: place.measure, predicate: conditionOn(measure, raw) }
  })
}

function havingGroup(raw: RawHaving, all: readonly RawHaving[], group?: GroupBy): ServiceError {
  const { measure, operator, value } = raw
  const name = quoted(measure.text)
  const detail = `having looks at measures; ${name} is a group. Use a filter instead.`
  const found = comparisons.find((name) => name === operator)
  if (group?.by.kind !== 'value' || found === undefined) return badRequest(detail)
  const others = all.filter((each) => each !== raw)
  return correctable(detail, {
    kind: 'arguments',
    meant: {
      having: others.map((each) => `${each.measure.text}.${each.operator}.${each.value}`),
    },
    filter: { column: group.column.name, op: found, value },
  })
}

function conditionOn(measure: Measure, { measure: call, operator, value }: RawHaving) {
  const column = resultColumn(measure)
  const allowed = comparisons.filter((name) => columnOperators(column).includes(name))
  const found = allowed.find((name) => name === operator)
  if (!found) {
    const meant = meantOperator(operator)
    const guess = meant !== undefined && allowed.includes(meant) ? ` Did you mean "${meant}"?` : ''
    throw correctable(
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
    throw correctable(
      `having: ${quoted(measure.name)} is ${article(shown)}, got ${quoted(value)}. ` +
        `Example: ${meant}`,
      {
        kind: 'part',
        key: 'having',
        written: `${call.text}.${found}.${value}`,
        meant,
        isExample: true,
      },
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
    if (!by) throw notAsked(call, 'order', asked)
    return { by, isDescending }
  })
  const keys = places.map(({ by }) => JSON.stringify(by))
  const twice = order.find((_, index) => keys.indexOf(keys[index] ?? '') !== index)
  if (twice) {
    const first = order.filter((_, index) => keys.indexOf(keys[index] ?? '') === index)
    throw correctable(`order names ${quoted(twice.call.text)} twice. Name it once.`, {
      kind: 'arguments',
      meant: {
        order: first.map(({ call, isDescending }) => (isDescending ? '-' : '') + call.text),
      },
    })
  }
  return places
}

/** By the key of the answer first, then by the text of the function. */
function placeOf(call: Call, asked: Asked): SummaryOrder['by'] | undefined {
  const key = callKey(call)
  const group = asked.groupCalls.findIndex((each) => groupCallKey(each) === groupCallKey(call))
  if (call.alias !== null) return group === -1 ? undefined : { group }
  if (call.operands === null) {
    const named = asked.measures.findIndex(({ name }) => name === call.name)
    if (named !== -1) return { measure: named }
  }
  if (group !== -1) return { group }
  const measure = asked.measureCalls.findIndex((each) => callKey(each) === key)
  return measure === -1 ? undefined : { measure }
}

function notAsked(call: Call, key: PartKey, asked: Asked): ServiceError {
  const directed = key === 'order' ? meantDirection(call) : undefined
  if (directed !== undefined) {
    const written = writtenCall(call)
    const detail = `order: write ${quoted(written)} as ${directed}`
    return correctable(detail, { kind: 'part', key, written, meant: directed })
  }
  const groups = key === 'order' ? asked.groups.map(({ name }) => name) : []
  const names = [...groups, ...asked.measures.map(({ name }) => name)]
  const detail = `${key}: ${quoted(call.text)} is not asked for.`
  const ofColumn = asked.measureCalls.filter((_, index) => {
    const measure = asked.measures[index]
    return measure && columnOf(measure.aggregate) === call.name
  })
  const [only] = ofColumn.length === 1 && call.operands === null ? ofColumn : []
  if (only) {
    const meant = only.alias === null ? only.text : callName(only.alias)
    return partError(`${detail} Did you mean ${quoted(meant)}?`, key, call, meant)
  }
  const isFunction = call.operands === null ? call.name === 'count' : findAggregate(call.name)
  if (isFunction) {
    const add = `${detail} Add it to measures.`
    return correctable(add, { kind: 'add-part', key: 'measures', meant: call.text })
  }
  const has = `${detail}${didYouMean(call.name, names)} It takes: ${names.join(', ')}.`
  const [near] = nearestNames(call.name, names)
  if (near === undefined) return badRequest(has)
  const meant = asked.measures.some(({ name }) => name === near)
    ? near
    : groupText(asked.groupCalls[groups.indexOf(near)] ?? call)
  return partError(has, key, call, meant)
}

/** The name of the one column that a measure is computed from. */
function columnOf({ of }: Measure['aggregate']): string | undefined {
  return of && 'column' in of ? of.column.name : undefined
}
