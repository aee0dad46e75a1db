import Type from 'typebox'
import type { Static } from 'typebox'
import { badRequest } from '../errors.js'
import { quoted } from '../text.js'
import { parseFlag, parseLimit, readParameters } from './parse-url.js'

/** A search for entities by key or name. */
export interface FindRequest {
  readonly q: string
  readonly limit: number
  /** Whether an empty answer says why, which costs a row. */
  readonly explain: boolean
}

const usualLimit = 10
const limitMax = 50
const lettersMax = 200

/**
 * Parses the search of a raw query string, `q=газпром&limit=10&explain=true`.
 * @throws bad_request for other parameters, an empty `q`, and values out of range
 */
export function parseFindUrl(query: string): FindRequest {
  const { filters, parameters } = readParameters(query, ['q', 'limit', 'explain'], [])
  const [filter] = filters
  if (filter) {
    const name = quoted(filter.column)
    throw badRequest(`find takes q, limit and explain, got ${name}. Filters are for rows.`)
  }
  const q = parameters.get('q') ?? ''
  return findRequest(
    q,
    parseLimit(parameters.get('limit')),
    parseFlag('explain', parameters.get('explain')),
  )
}

/** The search as one flat JSON object, for MCP. */
export const findFields = {
  q: Type.Optional(Type.String({ description: 'a name in any spelling, a key or its beginning' })),
  limit: Type.Optional(
    Type.Integer({ description: `1 to ${limitMax}; ${usualLimit} when left out` }),
  ),
  explain: Type.Optional(Type.Boolean({ description: 'false: a miss is free, and unexplained' })),
}

/**
 * Converts a valid value to a search, which explains an empty answer unless it says otherwise.
 * `name` is what the caller calls `q`.
 */
export function rawFind(
  fields: Static<Type.TObject<typeof findFields>>,
  name: 'q' | 'query' = 'q',
): FindRequest {
  const { q = '', limit = null, explain = true } = fields
  return findRequest(q, limit, explain, name)
}

function findRequest(q: string, limit: number | null, explain: boolean, name = 'q'): FindRequest {
  const text = q.trim()
  if (text === '') throw badRequest(`${name} is missing. Example: ${name}=газпром`)
  if (text.length > lettersMax) throw badRequest(`${name} may have ${lettersMax} letters at most.`)
  if (limit !== null && (limit < 1 || limit > limitMax)) {
    throw badRequest(`limit must be from 1 to ${limitMax}, got ${limit}.`)
  }
  return { q: text, limit: limit ?? usualLimit, explain }
}
