import { correctable } from '../../columns/correction.js'
import Type from 'typebox'
import { parseCallBeforeDot, parseCalls, parseDirectedCalls } from '../../columns/call-text.js'
import { badRequest } from '../../errors.js'
import { quoted } from '../../text.js'
import { parseExactJson } from '../exact-json.js'
import { headingNames, parseHeadings } from '../headings.js'
import { questionFields, rawFilter, readForms } from '../parse-json.js'
import { parseFlag, parseFormat, parseLimit, readParameters, requireValues } from '../parse-url.js'
import { meantOperator } from '../common-mistakes.js'
import { shapeReader } from '../read-shape.js'
import { havingMax } from './raw-summary.js'
import type { RawHaving, RawSummary } from './raw-summary.js'

/** The fields of a summary that are lists. */
export const summaryLists: readonly string[] = ['filters', 'group', 'measures', 'having', 'order']

const parameterNames = ['pivot', 'rest', 'limit', 'labels', 'format', 'excel', ...headingNames]
const listNames = ['group', 'measures', 'order', 'having']
/** The most characters of a condition of which the meaning is guessed. */
const guessedMax = 300

/**
 * Parses the summary of a raw query string,
 * `year=gte.2021&group=year,prefix(okved,2)&measures=sum(2110)&order=-sum(2110)`.
 * @throws bad_request for encoding, repeated and empty parameters and what can't be read;
 *   not_acceptable for a format that is not served
 */
export function parseSummaryUrl(query: string): RawSummary {
  const read = readParameters(query, parameterNames, listNames)
  requireValues(read, 'measures')
  const { filters, parameters, lists } = read
  return {
    filters,
    ...parseParts({
      group: lists.get('group'),
      measures: lists.get('measures'),
      order: lists.get('order'),
      having: lists.get('having') ?? [],
      pivot: parameters.get('pivot'),
    }),
    rest: parseFlag('rest', parameters.get('rest')),
    limit: parseLimit(parameters.get('limit')),
    labels: parseLabels(parameters.get('labels')),
    format: parseFormat(parameters.get('format'), parameters.get('excel')),
    ...parseHeadings(parameters),
  }
}

/**
 * Parses whether the names of codes are wanted, and in which language.
 * @throws bad_request for another text
 */
export function parseLabels(text = 'false'): RawSummary['labels'] {
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'ru') return text
  throw badRequest(`labels must be true, ru or false, got ${quoted(text)}.`)
}

function part(description: string) {
  return Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String({ description: 'a text' }))], {
      description,
    }),
  )
}

/** The summary as one flat JSON object, for `POST /v1/<dataset>/aggregate` and MCP. */
export const summaryFields = {
  group: part('a list such as ["year", "prefix(okved,2)"], or one text with commas'),
  measures: part('a list such as ["revenue:sum(2110)", "count"], or one text with commas'),
  filters: questionFields.filters,
  having: part('a list of conditions such as ["count.gte.10"]'),
  order: part('a list such as ["-revenue", "year"], or one text with commas'),
  pivot: Type.Optional(
    Type.String({ description: 'one group whose values become columns, such as "year"' }),
  ),
  rest: Type.Optional(
    Type.Boolean({ description: 'true, with pivot, to add up the groups beyond limit' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 0, description: 'a whole number of groups' })),
  labels: Type.Optional(
    Type.Union([Type.Boolean(), Type.Literal('ru')], {
      description: 'true, "ru" for Russian names, or false',
    }),
  ),
}

const SummarySchema = Type.Object(
  { ...summaryFields, format: Type.Optional(Type.String({ description: 'a format' })) },
  {
    additionalProperties: false,
    description:
      'an object {group, measures, filters, having, order, pivot, rest, limit, labels, format}',
  },
)

const readSummaryShape = shapeReader(SummarySchema, 'the body', 'aggregate')

/**
 * Parses the summary of a JSON text. An empty text, an empty list and null count as absent.
 * @throws bad_request like `parseSummaryUrl`, and for a number that JSON readers round
 */
export function parseSummaryJson(text: string): RawSummary {
  return rawSummary(readSummaryShape(readForms(parseExactJson(text, 'The body'), summaryLists)))
}

/**
 * Converts a valid value to a summary.
 * @throws bad_request for elements that can't be read; not_acceptable for a format that is not
 *   served
 */
export function rawSummary(content: Type.Static<typeof SummarySchema>): RawSummary {
  const { filters = [], rest = false, limit, labels, format, ...parts } = content
  return {
    filters: filters.map(rawFilter),
    ...parseParts({ ...parts, having: [parts.having ?? []].flat() }),
    rest,
    limit: limit ?? null,
    labels: labels ?? false,
    format: parseFormat(format),
  }
}

interface Parts {
  readonly group?: string | readonly string[] | undefined
  readonly measures?: string | readonly string[] | undefined
  readonly order?: string | readonly string[] | undefined
  readonly having: readonly string[]
  readonly pivot?: string | undefined
}

function parseParts({ group, measures, order, having, pivot }: Parts) {
  const conditions = having.filter((text) => text !== '')
  if (conditions.length > havingMax) {
    throw badRequest(`having takes at most ${havingMax} conditions, got ${conditions.length}.`)
  }
  return {
    group: listText(group, (text) => parseCalls(text, 'group')),
    measures: listText(measures, (text) => parseCalls(text, 'measures')),
    order: listText(order, (text) => parseDirectedCalls(text, 'order')),
    having: conditions.map(parseHaving),
    pivot: listText(pivot, (text) => parseCalls(text, 'pivot')),
  }
}

/** The elements of a list may also be one text with commas. */
function listText<T>(
  list: string | readonly string[] | undefined,
  parse: (text: string) => readonly T[],
): readonly T[] {
  const text = [list ?? []].flat().join()
  return text === '' ? [] : parse(text)
}

function parseHaving(text: string): RawHaving {
  const read = parseCallBeforeDot(text)
  const [, operator, value] = /^([^.]*)\.([^]*)$/.exec(read?.rest ?? '') ?? []
  if (!read || read.call.alias !== null || operator === undefined || value === undefined) {
    const meant = meantHaving(text)
    throw correctable(
      `having: ${quoted(text)} can't be read. Write <measure>.<operator>.<value>, for example ` +
        (meant ?? 'count.gte.10'),
      meant === undefined ? undefined : { kind: 'part', key: 'having', written: text, meant },
    )
  }
  return { measure: read.call, operator, value }
}

/** `count.gte.10` for `count >= 10`; undefined for a longer text, and for what is no comparison. */
function meantHaving(text: string): string | undefined {
  if (text.length > guessedMax) return undefined
  const [, ...signed] = /^([^<>=!]+)([<>=!]+)([^<>=!]+)$/.exec(text) ?? []
  const parts = signed.length > 0 ? signed : text.trim().split(/\s+/)
  const [measure = '', sign = '', value = ''] = parts.map((part) => part.trim())
  const operator = parts.length === 3 ? meantOperator(sign) : undefined
  return operator && `${measure}.${operator}.${value}`
}
