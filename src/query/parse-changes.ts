import Type from 'typebox'
import { questionFields, rawQuestion } from './parse-json.js'
import { parseFormat, parseLimit, parseSelect, readParameters } from './parse-url.js'
import type { RawQuestion } from './raw-question.js'

/** A parsed question for changes that is not yet resolved. */
export interface RawChanges extends RawQuestion {
  /** The version that the caller has; null if only the cursor says it. */
  readonly since: string | null
  /** The name of a watch list; null = of all rows. */
  readonly watch: string | null
}

const parameterNames = ['since', 'watch', 'limit', 'cursor', 'format']

/**
 * Parses `since=<version>&watch=<list>&<filters>&select=…&limit=…&cursor=…`.
 * @throws bad_request for encoding, repeated parameters and what can't be read; not_acceptable for
 *   a format that is not served
 */
export function parseChangesUrl(query: string): RawChanges {
  const { filters, parameters, lists } = readParameters(query, parameterNames, ['select'])
  return {
    since: parameters.get('since') || null,
    watch: parameters.get('watch') ?? null,
    filters,
    select: parseSelect(lists.get('select')),
    limit: parseLimit(parameters.get('limit')),
    cursor: parameters.get('cursor') ?? null,
    format: parseFormat(parameters.get('format')),
  }
}

/** The same as one flat JSON object, for MCP. */
export const changesFields = {
  since: Type.Optional(Type.String({ description: 'a version' })),
  ...questionFields,
}

/** Converts a valid value. */
export function rawChanges(content: Type.Static<Type.TObject<typeof changesFields>>): RawChanges {
  return { ...rawQuestion(content), since: content.since ?? null, watch: null }
}
