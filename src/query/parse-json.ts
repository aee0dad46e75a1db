import { correctable } from '../columns/correction.js'
import Type from 'typebox'
import { isOperator, operators } from '../columns/operators.js'
import { badRequest } from '../errors.js'
import type { ServiceError } from '../errors.js'
import { recordOf } from '../registry/shape.js'
import { parseExactJson } from './exact-json.js'
import { filtersMax, listValuesMax } from './raw-question.js'
import type { RawFilter, RawQuestion, RawValue } from './raw-question.js'
import { isAbsent, shapeReader } from './read-shape.js'

const scalars = [Type.String(), Type.Number(), Type.Boolean()] as const

const FilterSchema = Type.Object(
  {
    column: Type.String({ description: 'a column name' }),
    op: Type.String({ description: 'an operator' }),
    value: Type.Optional(
      Type.Union(
        [
          ...scalars,
          Type.Array(Type.Union([...scalars]), {
            description: 'a list of texts, numbers or truth values',
          }),
        ],
        { description: 'a text, a number, true, false, or a list of them' },
      ),
    ),
  },
  { additionalProperties: false, description: 'an object {column, op, value}' },
)

/**
 * The question as one flat JSON object, for `POST /v1/<dataset>/query` and MCP (contract 1.1, 2).
 * Descriptions also complete "must be …" in errors.
 */
export const questionFields = {
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
}

const QuestionSchema = Type.Object(questionFields, {
  additionalProperties: false,
  description: 'an object {filters, select, limit, cursor}',
})

const readQuestionShape = shapeReader(QuestionSchema, 'the body', 'rows')

/** The fields of a question that are lists. */
export const questionLists: readonly string[] = ['filters', 'select']
/** Lists that may also be a text with commas; as JSON they begin with a bracket. */
const commaLists: readonly string[] = ['group', 'measures', 'having', 'order']
/** Lists of names: what a text with commas means is clear. */
const nameLists: readonly string[] = ['select', 'columns']

/**
 * Parses the question of a JSON text.
 * @throws bad_request for broken JSON, an unknown key, a wrong type, or a number that JSON readers
 *   round
 */
export function parseJsonText(text: string): RawQuestion {
  return rawQuestion(readQuestionShape(readForms(parseExactJson(text, 'The body'), questionLists)))
}

/**
 * Reads the forms in which a body or a tool's arguments may have their lists: as JSON in a string;
 * `*` for all columns; nothing, `null`, `""`, `[]` or `{}` as the value of an operator that takes
 * none. `lists` are the members that are lists.
 * @throws bad_request
 */
export function readForms(content: unknown, lists: readonly string[]): unknown {
  const read = withReadLists(content, lists)
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return read
  const { filters, select } = recordOf(read)
  // All columns, as SQL writes them.
  const isEverything = Array.isArray(select) && select.length === 1 && select[0] === '*'
  return {
    ...read,
    ...(isEverything && { select: [] }),
    ...(Array.isArray(filters) && { filters: filters.map(withoutAbsentValue) }),
  }
}

function withoutAbsentValue(filter: unknown): unknown {
  const { value, ...others } = recordOf(filter)
  const op = String(others['op'])
  const takesNone = isOperator(op) && operators[op].form === 'none'
  return value === null || (takesNone && isAbsent(value)) ? others : filter
}

/**
 * Returns an object with its lists, the fields of these names. Parses lists that are JSON in a
 * string, as language models send them, and refuses lists over the limit: a body could hold half a
 * million elements.
 * @throws bad_request
 */
function withReadLists(content: unknown, lists: readonly string[]): unknown {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content
  const entries = Object.entries(content).map(([key, value]) => {
    if (typeof value !== 'string' || value === '' || !lists.includes(key)) return [key, value]
    if (key === 'select' && value === '*') return [key, [value]]
    if (nameLists.includes(key) && areNames(value)) throw notAList(key, value)
    const isJson = !commaLists.includes(key) || value.startsWith('[')
    return [key, isJson ? parseExactJson(value, `${key}, sent as a string,`) : value]
  })
  const read: unknown = Object.fromEntries(entries)
  requireShortLists(read, lists)
  return read
}

/** Names, with commas between them. */
function areNames(text: string): boolean {
  return /^[\p{L}\p{N}_*]/u.test(text) && !/^(?:null|true|false)$/.test(text)
}

function notAList(key: string, text: string): ServiceError {
  const names = text.split(',').map((name) => name.trim())
  const detail = `${key}, sent as a string, is not valid JSON. Send a list of names.`
  return correctable(detail, { kind: 'arguments', meant: { [key]: names } })
}

function requireShortLists(content: unknown, lists: readonly string[]): void {
  const fields = recordOf(content)
  const requireShort = (list: unknown, max: number, name: string) => {
    if (!Array.isArray(list) || list.length <= max) return
    throw badRequest(`${name} has ${list.length} elements, but at most ${max} are allowed.`)
  }
  for (const name of lists) {
    requireShort(fields[name], name === 'filters' ? filtersMax : listValuesMax, name)
  }
  const { filters } = fields
  if (!Array.isArray(filters)) return
  for (const [index, filter] of filters.entries()) {
    requireShort(recordOf(filter)['value'], listValuesMax, `filters.${index}.value`)
  }
}

/** Converts a valid value to a question. */
export function rawQuestion(content: Type.Static<typeof QuestionSchema>): RawQuestion {
  const { filters = [], select = null, limit = null, cursor = null } = content
  return { filters: filters.map(rawFilter), select, limit, cursor, format: null }
}

/** Converts a valid filter. */
export function rawFilter({ column, op, value }: Type.Static<typeof FilterSchema>): RawFilter {
  const read = listInText(op, value) ?? value
  const values: readonly RawValue[] = read === undefined ? [] : Array.isArray(read) ? read : [read]
  return { column, operator: op, values, isList: Array.isArray(read) }
}

/** The list that a text holds as JSON, for an operator that takes one; undefined without one. */
function listInText(op: string, value: unknown): RawValue[] | undefined {
  const isList = isOperator(op) && operators[op].form === 'list'
  if (!isList || typeof value !== 'string' || !value.startsWith('[')) return undefined
  const read = parseExactJson(value, 'A list, sent as a string,')
  const isScalar = (each: unknown): each is RawValue => scalarTypes.includes(typeof each)
  return Array.isArray(read) && read.every(isScalar) ? read : undefined
}

const scalarTypes: readonly string[] = ['string', 'number', 'boolean']
