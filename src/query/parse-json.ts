import Type from 'typebox'
import { badRequest } from '../errors.js'
import { shapeProblems } from '../catalog/shape.js'
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

/** The body of `POST /v1/<dataset>/query`: the URL's question as JSON (contract 1.1). */
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

type Question = Type.Static<typeof QuestionSchema>

const digitsMax = 15

/**
 * Reads the question of a JSON text.
 * @throws bad_request for broken JSON, an unknown key, a wrong type, or a number that JSON readers
 *   round
 */
export function parseJsonText(text: string): RawQuestion {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw badRequest('The body is not valid JSON.')
  }
  requireExactNumbers(text)
  return parseJson(content)
}

function parseJson(content: unknown): RawQuestion {
  const problem = shapeProblems(QuestionSchema, content, 'the body')[0]
  if (problem) throw badRequest(`${problem.name}: ${problem.message}`)
  const { filters = [], select = null, limit = null, cursor = null } = content as Question
  return { filters: filters.map(rawFilter), select, limit, cursor }
}

function rawFilter({ column, op, value }: NonNullable<Question['filters']>[number]): RawFilter {
  const values: readonly RawValue[] =
    value === undefined ? [] : Array.isArray(value) ? value : [value]
  return { column, operator: op, values, isList: Array.isArray(value) }
}

/**
 * A JSON number beyond ±(2^53−1), or of more than 15 significant digits, may already be another
 * number than the one that was written: it is refused, not guessed.
 */
function requireExactNumbers(text: string): void {
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs)) {
    if (token.startsWith('"')) continue
    const digits = (token.split(/[eE]/)[0] ?? '').replace(/[-.]/g, '').replace(/^0+|0+$/g, '')
    if (digits.length > digitsMax || Math.abs(Number(token)) > Number.MAX_SAFE_INTEGER) {
      throw badRequest(
        `The number ${token.slice(0, 40)} can't be kept exactly in JSON: send it as a string.`,
      )
    }
  }
}
