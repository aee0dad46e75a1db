import Type from 'typebox'
import { badRequest } from '../errors.js'
import { questionFields, rawFilter } from './parse-json.js'
import { headingNames, parseHeadings } from './headings.js'
import { parseFormat, parseLimit, parseSelect, readParameters, requireValues } from './parse-url.js'
import type { RawQuestion } from './raw-question.js'
import { parseDirectedCalls } from '../columns/call-text.js'
import type { DirectedCall } from '../columns/call-text.js'

/** A parsed top that is not yet resolved; it has no cursor. */
export interface RawTop extends Omit<RawQuestion, 'cursor'> {
  readonly by: DirectedCall
}

const parameterNames = ['by', 'limit', 'format', 'excel', ...headingNames]

/**
 * Parses the top of a raw query string, `by=-2400&year=eq.2024&select=inn,2400&limit=20`.
 * @throws bad_request for encoding, repeated and empty parameters and what can't be read;
 *   not_acceptable for a format that is not served
 */
export function parseTopUrl(query: string): RawTop {
  const read = readParameters(query, parameterNames, ['select'])
  requireValues(read, 'by')
  const { filters, parameters, lists } = read
  return {
    by: parseBy(parameters.get('by') || undefined),
    filters,
    select: parseSelect(lists.get('select')),
    limit: parseLimit(parameters.get('limit')),
    format: parseFormat(parameters.get('format'), parameters.get('excel')),
    ...parseHeadings(parameters),
  }
}

/** The top as one flat JSON object, for MCP. */
export const topFields = {
  by: Type.Optional(
    Type.String({ description: 'a column name; with - in front the largest values come first' }),
  ),
  filters: questionFields.filters,
  select: questionFields.select,
  limit: questionFields.limit,
}

/**
 * Converts a valid value to a top. An empty list counts as absent.
 * @throws bad_request for a column that can't be read
 */
export function rawTop(content: Type.Static<Type.TObject<typeof topFields>>): RawTop {
  const { by, filters = [], select = [], limit = null } = content
  return {
    by: parseBy(by),
    filters: filters.map(rawFilter),
    select: select.length === 0 ? null : select,
    limit,
    format: null,
  }
}

function parseBy(text: string | undefined): DirectedCall {
  if (text === undefined) {
    throw badRequest('by is missing. Name the column to sort by, with - for the largest first.')
  }
  const [by, ...others] = parseDirectedCalls(text, 'by')
  if (by && others.length === 0) return by
  throw badRequest('by takes one column. Ties come in stored order.')
}
