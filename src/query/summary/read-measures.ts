import { correctable } from '../../columns/correction.js'
import type { Access } from '../../access/access.js'
import { callName } from '../../columns/call-text.js'
import type { Call } from '../../columns/call-text.js'
import { meantSide, resolveSide } from '../../columns/formula.js'
import type { Operand } from '../../columns/formula.js'
import {
  aggregateFunctions,
  aggregateNames,
  columnAggregates,
  findAggregate,
  isGroupFunction,
  meantFunction,
} from '../../columns/functions.js'
import { operandMistake } from '../../columns/operand-rules.js'
import { badRequest } from '../../errors.js'
import type { DefinedMeasure } from '../../registry/measures.js'
import { didYouMean, nearestNames, quoted } from '../../text.js'
import { visibleColumn } from '../check-parts.js'
import type { Aggregate, Measure } from '../summary.js'
import { callText, eachOnce, partError, plainCallText, writtenCall } from './part-column.js'
import { aggregateOf, historyOf, operandError, readSide, writtenText } from './read-operands.js'
import { distinctMax, measuresMax } from './raw-summary.js'
import type { RawSummary } from './raw-summary.js'

const key = 'measures'
const aliasLettersMax = 100
const functionTexts = aggregateNames.map((name) => (name === 'pN' ? 'p1 to p99' : name))
const functionNames = aggregateNames.map((name) => (name === 'pN' ? 'p90' : name))

/**
 * Resolves the measures: functions of columns, and those that the registry defines.
 * @throws bad_request with the functions that the column has, or the nearest right text
 */
export function readMeasures(access: Access, raw: RawSummary): readonly Measure[] {
  const { measures: calls } = raw
  if (calls.length === 0) {
    throw correctable('measures is missing. Name at least one. Example: measures=count', {
      kind: 'add-part',
      key,
      meant: 'count',
    })
  }
  if (calls.length > measuresMax) {
    throw badRequest(`measures takes at most ${measuresMax} elements, got ${calls.length}.`)
  }
  const measures = calls.map((call) => readMeasure(access, call, raw))
  const distinct = measures.filter(({ aggregate }) => aggregate.kind === 'distinct')
  if (distinct.length > distinctMax) {
    throw badRequest(
      `measures takes distinct at most ${distinctMax} times, got ${distinct.length}.`,
    )
  }
  return measures
}

function readMeasure(access: Access, call: Call, raw: RawSummary): Measure {
  const name = call.alias ?? (call.operands === null ? call.name : writtenText(access, call))
  if ([...name].length > aliasLettersMax && call.alias !== null) {
    throw badRequest(`measures: ${quoted(name)} has over ${aliasLettersMax} characters.`)
  }
  if (/\p{Surrogate}/u.test(name)) throw badRequest(`measures: a name is not valid Unicode.`)
  // It would end the text of a statement.
  if (name.includes('\0')) throw badRequest('measures: a name has the character U+0000.')
  if (call.operands !== null) {
    return { name, aggregate: readFunction(access, call, call.operands, raw), defined: null }
  }
  if (call.name === 'count') return { name, aggregate: { kind: 'count', of: null }, defined: null }
  const defined = definedMeasure(access, call.name)
  if (defined) return { name, ...defined }
  throw notAMeasure(access, call)
}

/** A measure of the registry; undefined if it is not there, or a column of it is hidden now. */
function definedMeasure(access: Measured, name: string): Omit<Measure, 'name'> | undefined {
  const measure = access.dataset.measures.find((each) => each.name === name)
  const aggregate = measure && findAggregate(measure.function)
  if (!aggregate) return undefined
  const find = (column: string) => visibleColumn(access, column)
  const sides = measure.operands.flatMap((operand) => {
    const side = meantSide(operand, (column) => find(column) !== undefined)
    return (side && resolveSide(side, find)) ?? []
  })
  const isWhole = sides.length === measure.operands.length
  const history = historyOf(access)
  if (!isWhole || operandMistake(aggregate.name, measure.function, sides, history)) return undefined
  return { aggregate: aggregateOf(aggregate, sides), defined: measure }
}

/** What the registry's measures are made of. */
type Measured = Pick<Access, 'dataset' | 'columns' | 'version'>

/** The registry's measures that this access can use. */
export function usableMeasures(access: Measured): readonly DefinedMeasure[] {
  return access.dataset.measures.filter(({ name }) => definedMeasure(access, name) !== undefined)
}

/** A measure of the registry as a request would write it without its name: `ratio(2400/2110)`. */
export function measureFormula({ function: name, operands }: DefinedMeasure): string {
  return callText({ name, operands: [operands] })
}

function readFunction(
  access: Access,
  call: Call,
  operands: readonly (readonly Operand[])[],
  raw: RawSummary,
): Aggregate {
  const { name } = call
  const found = findAggregate(name)
  if (!found) throw unknownFunction(call, raw)
  const [written = [], ...others] = operands
  const first = written[0]?.name ?? ''
  if (found.name === 'count' && first === '*') {
    throw partError('measures: write the number of rows as count.', key, call, 'count')
  }
  const column = /^distinct (.+)$/i.exec(first)?.[1]
  if (column !== undefined && !visibleColumn(access, first)) {
    const meant = plainCallText('distinct', column)
    throw partError(`measures: write different values as ${meant}`, key, call, meant)
  }
  if (others.length > 0) {
    const { takes } = aggregateFunctions[found.name]
    const isQuotient = (takes === 'quotient' || takes === 'two values') && operands.length === 2
    const each = isQuotient ? [[operands.flat()]] : operands.map((one) => [one])
    const meant = each.map((one) => callText({ name, operands: one })).join()
    throw partError(`measures: ${name} takes no list. Write ${meant}`, key, call, meant)
  }
  const sides = written.map((operand) => readSide(access, operand, call))
  const mistake = operandMistake(found.name, name, sides, historyOf(access))
  if (mistake === undefined) return aggregateOf(found, sides)
  throw operandError(mistake, call, sides, historyOf(access))
}

function notAMeasure(access: Access, call: Call): Error {
  const column = visibleColumn(access, call.name)
  if (column) {
    const has = columnAggregates(column)
    const meant = plainCallText(has.includes('sum') ? 'sum' : 'count', call.name)
    const detail = `measures: ${quoted(call.name)} is a column. Choose a function: ${meant}`
    return partError(detail, key, call, meant, { isExample: true })
  }
  const renamed = /^(.+) as (\S+)$/i.exec(call.name)
  if (renamed) {
    const [, name = '', alias = ''] = renamed
    const meant = `${callName(alias)}:${callName(name.trim())}`
    return partError(`measures: write ${quoted(call.name)} as ${meant}`, key, call, meant)
  }
  if (findAggregate(call.name)) {
    return badRequest(`measures: ${call.name} needs a column: ${call.name}(column).`)
  }
  const names = ['count', ...usableMeasures(access).map(({ name }) => name)]
  const [near] = nearestNames(call.name, names)
  const detail =
    `measures: there is no measure ${quoted(call.name)}.${didYouMean(call.name, names)} ` +
    `It takes ${names.join(', ')}, or a function of a column: ${functionTexts.join(', ')}.`
  return near === undefined ? badRequest(detail) : partError(detail, key, call, near)
}

function unknownFunction(call: Call, { group, measures }: RawSummary): Error {
  const { name } = call
  if (isGroupFunction(name)) {
    const others = measures.filter((each) => each !== call).map(writtenCall)
    const detail = `measures: ${quoted(call.text)} groups rows. Move it to group`
    const meant = {
      group: eachOnce([...group.map(writtenCall), call.text]),
      measures: others,
    }
    return others.length === 0
      ? badRequest(`${detail}, and name a measure, such as count.`)
      : correctable(`${detail}.`, { kind: 'arguments', meant })
  }
  const meant = meantCall(call)
  const detail =
    `measures: there is no function ${quoted(name)}.` +
    `${meant === undefined ? '' : didYouMean(meant.name, [meant.name])} ` +
    `It has: ${functionTexts.join(', ')}.`
  if (meant === undefined) return badRequest(detail)
  return partError(detail, key, call, callText(meant), meant.isSame ? { isSame: true } : {})
}

interface MeantCall extends Pick<Call, 'name' | 'operands'> {
  readonly isSame?: true
}

/** The measure that another service writes so: `p25(2110)` for `quantile(2110,0.25)`. */
function meantCall({ name, operands }: Call): MeantCall | undefined {
  if (/^(?:quantile|percentile)/i.test(name)) {
    const [column, share, ...others] = operands ?? []
    const number = Number(share?.[0]?.name)
    // `quantile(c,1)` is the largest value, and no percentile.
    if (/^quantile/i.test(name) && number >= 1) return undefined
    const percent = number < 1 ? Number((number * 100).toFixed(6)) : number
    const isOne = column !== undefined && others.length === 0 && Number.isInteger(percent)
    if (!isOne || !findAggregate(`p${percent}`)) return undefined
    return { name: `p${percent}`, operands: [column], isSame: true }
  }
  const meant = meantFunction(name, functionNames)
  return meant === undefined ? undefined : { name: meant, operands }
}
