import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { badRequest } from '../errors.js'
import { recordOf, shapeProblems } from '../catalog/shape.js'
import { filtersMax, listValuesMax } from './raw-question.js'
import type { RawFilter, RawQuestion, RawValue } from './raw-question.js'

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()])
const list = Type.Array(scalar, { description: 'a list of texts, numbers or truth values' })

const FilterSchema = Type.Object(
  {
    column: Type.String({ description: 'a column name' }),
    op: Type.String({ description: 'an operator' }),
    value: Type.Optional(
      Type.Union([scalar, list], {
        description: 'a text, a number, true, false, or a list of them',
      }),
    ),
  },
  { additionalProperties: false, description: 'an object {column, op, value}' },
)

/** The body of `POST /v1/<dataset>/query`: the URL's question as JSON (contract 1.1, 2). */
const QuestionSchema = Type.Object(
  {
    filters: Type.Optional(
      Type.Array(FilterSchema, { description: 'a list of {column, op, value}' }),
    ),
    select: Type.Optional(
      Type.Array(Type.String({ description: 'a column name' }), {
        description: 'a list of column names',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 0, description: 'a whole number of rows' })),
    cursor: Type.Optional(Type.String({ description: 'the next_cursor of the page before' })),
  },
  { additionalProperties: false, description: 'an object {filters, select, limit, cursor}' },
)

const questionValidator = Compile(QuestionSchema)

/** Keys whose lists are understood as JSON inside a string too: language models send them so. */
const textualKeys: readonly string[] = ['filters', 'select']

const digitsMax = 15
/** The smallest double that keeps its digits has 308 zeros in front of them. */
const numberLengthMax = 400
/** Below it a double has fewer digits than these. */
const smallestNormal = 2 ** -1022

/**
 * Reads the question of a JSON text.
 * @throws bad_request for broken JSON, an unknown key, a wrong type, or a number that JSON readers
 *   round
 */
export function parseJsonText(text: string): RawQuestion {
  const content = withReadTexts(parseExactJson(text, 'The body'))
  requireShortLists(content)
  if (!questionValidator.Check(content)) {
    const [problem] = shapeProblems(QuestionSchema, content, 'the body')
    throw badRequest(`${problem?.name ?? 'the body'}: ${problem?.message ?? 'is malformed.'}`)
  }
  const { filters = [], select = null, limit = null, cursor = null } = content
  return { filters: filters.map(rawFilter), select, limit, cursor }
}

/** Looked at before the elements, of which a body could hold half a million. */
function requireShortLists(content: unknown): void {
  const { filters, select } = recordOf(content)
  const requireShort = (list: unknown, max: number, name: string) => {
    if (!Array.isArray(list) || list.length <= max) return
    throw badRequest(`${name} has ${list.length} elements, but at most ${max} are allowed.`)
  }
  requireShort(filters, filtersMax, 'filters')
  requireShort(select, listValuesMax, 'select')
  if (!Array.isArray(filters)) return
  for (const [index, filter] of filters.entries()) {
    requireShort(recordOf(filter)['value'], listValuesMax, `filters.${index}.value`)
  }
}

function withReadTexts(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content
  const entries = Object.entries(content).map(([key, value]) => {
    const isJson = typeof value === 'string' && textualKeys.includes(key)
    return [key, isJson ? parseExactJson(value, `${key}, sent as a string,`) : value]
  })
  return Object.fromEntries(entries)
}

function rawFilter({ column, op, value }: Type.Static<typeof FilterSchema>): RawFilter {
  const values: readonly RawValue[] =
    value === undefined ? [] : Array.isArray(value) ? value : [value]
  return { column, operator: op, values, isList: Array.isArray(value) }
}

function parseExactJson(text: string, what: string): unknown {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw badRequest(`${what} is not valid JSON.`)
  }
  requireExactNumbers(text)
  return content
}

/**
 * A JSON number beyond ±(2^53−1), or of more than 15 significant digits, may already be another
 * number than the one that was written: it is refused, not guessed.
 */
function requireExactNumbers(text: string): void {
  const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs
  for (const [token] of text.matchAll(tokens)) {
    if (token.startsWith('"')) continue
    if (token.length > numberLengthMax) throw inexactNumber(token)
    const digits = (token.split(/[eE]/)[0] ?? '').replace(/[-.]/g, '').replace(/^0+|0+$/g, '')
    const size = Math.abs(Number(token))
    const isTooSmall = digits !== '' && size < smallestNormal
    if (digits.length > digitsMax || size > Number.MAX_SAFE_INTEGER || isTooSmall) {
      throw inexactNumber(token)
    }
  }
}

function inexactNumber(token: string): Error {
  const start = token.slice(0, 40)
  return badRequest(`The number ${start} can't be kept exactly in JSON: send it as a string.`)
}
