import type { Access } from '../../access/access.js'
import type { ColumnAt, Quotient, Side } from '../../columns/formula.js'
import { badRequest } from '../../errors.js'
import { quoted } from '../../text.js'
import type { RawHeadings } from '../headings.js'
import type { Aggregate, GroupBy, Measure, ServedValue, Summary } from '../summary.js'
import { writtenCall } from './part-column.js'
import { pivotMax } from './raw-summary.js'
import type { RawSummary } from './raw-summary.js'
import { readGroup } from './read-groups.js'

/** A pivot before the values of its group are known. */
export interface AskedPivot {
  readonly group: GroupBy
  /** One more group adds up those beyond the limit. */
  readonly hasRest: boolean
  readonly headings: RawHeadings | undefined
}

/** The name of the column that is true for the rest. */
const restName = 'rest'

/**
 * Resolves what becomes columns; null where nothing does.
 * @throws bad_request for another number of groups or measures, and for an order or condition
 */
export function readPivot(
  access: Access,
  raw: RawSummary,
  { groups, measures }: Pick<Summary, 'groups' | 'measures'>,
): AskedPivot | null {
  const [call, ...others] = raw.pivot
  if (!call) {
    if (raw.rest) throw badRequest('rest needs pivot. Leave rest out, or name a pivot.')
    return null
  }
  if (others.length > 0) throw badRequest(`pivot takes one group, got ${raw.pivot.length}.`)
  const [measure] = measures
  if (!measure || groups.length !== 1 || measures.length !== 1) {
    throw badRequest(
      `pivot needs exactly one group and one measure, got ${groups.length} and ` +
        `${measures.length}. Without pivot, ${quoted(writtenCall(call))} may be one more group.`,
    )
  }
  for (const key of ['order', 'having'] as const) {
    if (raw[key].length === 0) continue
    throw badRequest(
      `${key} can't be combined with pivot: groups come by the measure, largest first. Leave ` +
        `${key} out.`,
    )
  }
  const { kind } = measure.aggregate
  if (raw.rest && kind !== 'sum' && kind !== 'count') {
    throw badRequest(`rest adds up sums and counts only; ${quoted(measure.name)} is neither.`)
  }
  const group = { ...readGroup(access, call, raw, 'pivot'), labels: null }
  if (group.name === groups[0]?.name) {
    throw badRequest(`pivot: ${quoted(group.name)} is the group already. Leave one of them out.`)
  }
  return { group, hasRest: raw.rest, headings: raw.headings }
}

/** The most values of the pivot in any part of what the caller sees. */
export function seenValues(summary: Summary, { group }: AskedPivot, access: Access): Summary {
  const count: Measure = { name: 'count', aggregate: { kind: 'count', of: null }, defined: null }
  const { predicates } = access
  const { version } = summary
  const limit = pivotMax + 1
  return { version, predicates, groups: [group], measures: [count], having: [], order: [], limit }
}

/** Of the rows that meet the filters. */
export function usedValues(summary: Summary, { group }: AskedPivot): Summary {
  return { ...summary, groups: [group], having: [], order: [], limit: pivotMax, format: 'json' }
}

/**
 * Checks the values that the caller sees, whatever the filters are.
 * @throws bad_request for too many of them, and for one with the name of the group
 */
export function checkValues(
  { groups: [group] }: Pick<Summary, 'groups'>,
  { group: pivot }: AskedPivot,
  values: readonly ServedValue[],
): void {
  if (values.length > pivotMax) {
    throw badRequest(
      `pivot: ${quoted(pivot.name)} has more than ${pivotMax} values. Take a coarser one, such ` +
        'as a level, prefix(column,n) or year(column), or make it a group.',
    )
  }
  const name = group?.name ?? ''
  if (values.some((value) => value?.toLowerCase() === name.toLowerCase())) {
    throw badRequest(
      `pivot: ${quoted(pivot.name)} has the value ${quoted(name)}, and so is the group's column ` +
        `called. Make ${quoted(pivot.name)} a group.`,
    )
  }
}

/** As a list of values has it: files have no column without a name. */
const emptyText = '""'

/** In the place of U+0000, which would end the text of a statement. */
const replacement = '\ufffd'

/**
 * The names of the values' columns: each its value, and with a number where the answer has a column
 * of that name: files know no difference of large and small letters.
 */
function columnNames(taken: readonly string[], values: readonly ServedValue[]): readonly string[] {
  const names = new Set(taken.map((name) => name.toLowerCase()))
  return values.map((value) => {
    const text = value === '' ? emptyText : (value ?? 'null').replaceAll('\0', replacement)
    let name = text
    for (let n = 2; names.has(name.toLowerCase()); n++) name = `${text} (${n})`
    names.add(name.toLowerCase())
    return name
  })
}

const unnamed = {
  ...{ label: null, unit: null, description: null },
  russian: { label: null, unit: null, description: null },
} as const

/** The summary with a column for each value; all groups but `shown`, if given, are the rest. */
export function pivoted(
  summary: Summary,
  { group: pivot, hasRest }: AskedPivot,
  values: readonly ServedValue[],
  shown: readonly ServedValue[] | null,
): Summary {
  const [group] = summary.groups
  const [measure] = summary.measures
  if (!group || !measure) throw new TypeError('a pivot has a group and a measure')
  const taken = [group.name, `${group.name}:label`, ...(hasRest ? [restName] : [])]
  const measures = columnNames(taken, values).map((name, place): Measure => ({
    name,
    aggregate: aggregateIn(measure.aggregate, place),
    // The name of the column says what it is.
    defined: { ...unnamed, ...measure.defined, label: null, russian: unnamed.russian },
  }))
  const byTotal = { by: { measure: measures.length }, isDescending: true }
  const all = {
    ...summary,
    pivot: { group: pivot, values },
    measures: [...measures, { ...measure, isHidden: true } as const],
  }
  if (shown === null) return { ...all, groups: [group], order: [byTotal] }
  const kept = { ...group, kept: shown }
  const rest: GroupBy = { ...group, name: restName, labels: null, by: { kind: 'rest', of: kept } }
  const order = [{ by: { group: 1 }, isDescending: false }, byTotal]
  return { ...all, groups: [kept, rest], order, limit: summary.limit + 1 }
}

/** The same aggregate of the rows with one value of the pivot. */
function aggregateIn(aggregate: Aggregate, place: number): Aggregate {
  const column = (of: ColumnAt): ColumnAt => ({ ...of, place })
  const side = ({ factor, terms }: Side): Side => ({
    factor,
    terms: terms.map((term) => ({ ...term, place })),
  })
  const quotient = ({ dividend, divisor }: Quotient): Quotient => ({
    dividend: side(dividend),
    divisor: side(divisor),
  })
  switch (aggregate.kind) {
    case 'count':
      return aggregate.of === null
        ? { ...aggregate, place }
        : { ...aggregate, of: column(aggregate.of) }
    case 'distinct':
    case 'sum':
    case 'min':
    case 'max':
      return { ...aggregate, of: column(aggregate.of) }
    case 'avg':
    case 'percentile': {
      const { of } = aggregate
      return { ...aggregate, of: 'dividend' in of ? quotient(of) : column(of) }
    }
    case 'ratio':
    case 'growth':
      return { ...aggregate, of: quotient(aggregate.of) }
  }
}
