import { callName, parseCalls, parseDirectedCalls } from '../../../columns/call-text.js'
import type { Call } from '../../../columns/call-text.js'
import { headingNames } from '../../../query/headings.js'
import { parseLimit, readParameters } from '../../../query/parse-url.js'
import { encodeForUrl } from '../../../query/write-url.js'
import { readFilters, writeFilters } from './filters.js'
import type { Filter } from './filters.js'

/** A question for groups of rows. Its texts are those of a request: `prefix(okved,2)`. */
export interface SummaryQuestion {
  readonly filters: readonly Filter[]
  readonly group: readonly string[]
  /** A function of a column, or a measure of the dataset, maybe renamed: `revenue:sum(2110)`. */
  readonly measures: readonly string[]
  /** Measures and groups, `-` for the largest first; empty = by the groups. */
  readonly order: string
  /** What the form has no field for, as it stands in the address: `pivot=year`. */
  readonly others: readonly string[]
  /** Groups in the answer; null = the service's default. */
  readonly limit: number | null
}

const parameterNames = ['group', 'measures', 'order', 'limit', 'labels', 'format', 'excel']
/** Those that have no field in the form. */
const otherNames = ['having', 'pivot', 'rest']
const addressNames = [...parameterNames, ...headingNames]

/** The names of the parameters of an aggregate: columns of these names can't be filtered by URL. */
export const summaryParameters: readonly string[] = [...parameterNames, ...otherNames]

/** How a request asks for the names of codes, in English or in Russian. */
export type LabelsParameter = 'true' | 'ru'

/** The question as the query string of a URL; codes come with their names. */
export function writeSummaryQuestion(
  question: SummaryQuestion,
  labels: LabelsParameter = 'true',
): string {
  const { filters, group, measures, order, limit, others } = question
  return [
    ...writeFilters(filters),
    ...(group.length === 0 ? [] : [`group=${encodeCalls(group.join())}`]),
    `measures=${encodeCalls(measures.join())}`,
    ...(order === '' ? [] : [`order=${encodeCalls(order)}`]),
    ...others,
    ...(limit === null ? [] : [`limit=${limit}`]),
    `labels=${labels}`,
  ].join('&')
}

/**
 * Reads a question from a query string.
 * @throws bad_request for what can't be read
 */
export function readSummaryQuestion(query: string): SummaryQuestion {
  const { filters, parameters, lists } = readParameters(query, addressNames, otherNames)
  const texts = (name: string) => {
    const list = parameters.get(name) ?? ''
    return list === '' ? [] : parseCalls(list, name).map(callText)
  }
  const order = parameters.get('order') ?? ''
  const directed = order === '' ? [] : parseDirectedCalls(order, 'order')
  return {
    filters: readFilters(filters),
    group: texts('group'),
    measures: texts('measures'),
    order: directed
      .map(({ isDescending, call }) => `${isDescending ? '-' : ''}${callText(call)}`)
      .join(),
    others: [...lists].flatMap(([name, values]) =>
      values.map((value) => `${name}=${encodeCalls(value)}`),
    ),
    limit: parseLimit(parameters.get('limit')),
  }
}

/** Whether the values of a group are columns of the answer, which then has one measure. */
export function isPivot({ others }: Pick<SummaryQuestion, 'others'>): boolean {
  return others.some((each) => each.startsWith('pivot='))
}

function callText({ alias, text }: Call): string {
  return alias === null ? text : `${callName(alias)}:${text}`
}

/** Brackets, commas, colons and slashes stay as they are, which a query string allows. */
function encodeCalls(text: string): string {
  return encodeForUrl(text).replace(/%(?:28|29|2C|3A|2F)/g, decodeURIComponent)
}
