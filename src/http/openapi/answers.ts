import { errorCodes, errorMeaning, errorStatus } from '../../errors.js'
import type { ErrorCode } from '../../errors.js'
import { mediaTypes, pageFormats } from '../../query/page-format.js'
import { int32, int64, refTo } from './json.js'
import type { Json } from './json.js'

/** The one shape of every error. */
export const errorSchema: Json = {
  type: 'object',
  required: ['error', 'detail'],
  properties: {
    error: {
      type: 'string',
      description: 'The code to decide by. Later versions may add codes.',
      'x-extensible-enum': errorCodes,
    },
    detail: { type: 'string', description: 'What is wrong and what to do.' },
  },
}

const rows = { ...int64, minimum: 0 }
const count = { ...int32, minimum: 0 }
const text = { type: 'string' }

/** The headers of answers, by name. */
export const headers: Readonly<Record<string, Json>> = {
  'X-Request-Id': header('Names this request; the log has it too.'),
  'X-RateLimit-Limit': header('Requests a minute.', count),
  'X-RateLimit-Remaining': header('Requests left in this minute.', count),
  'X-RateLimit-Reset': header('Seconds until the minute ends.', count),
  'X-Quota-Rows-Limit': header('Rows a month; left out where they are not counted.', rows),
  'X-Quota-Rows-Remaining': header('Rows left in this month.', rows),
  'X-Quota-Scope': header(
    'The quota nearer to its end: `resource` of the dataset, or `global` over all.',
  ),
  ETag: header('For `If-None-Match`; a page that a quota cut has none.'),
  'Last-Modified': header('When the newest file was written.'),
  'Accept-Ranges': header('`none`: byte ranges are not served.'),
  'X-Hint': header('What the filters may have been meant to ask, percent-encoded beyond ASCII.'),
  'X-Explained': header(
    'With `explain=true`, why no row meets the filters, percent-encoded beyond ASCII.',
  ),
  'X-Scope': header(
    'The part of the dataset that this token sees, as `demo: 5 values of inn` or ' +
      '`plan free: year 2025`; left out if it sees all rows.',
  ),
  'Server-Timing': header('Milliseconds until the answer began: `queue`, `engine`, `total`.'),
  'X-Dataset-Version': header('The version that was read.'),
  'Content-Disposition': header(
    'A name for the file, of dataset and version, in formats that are files.',
  ),
  'X-Next-Cursor': header('The `cursor` of the next page, in formats with no room for it.'),
  'X-Rows-Charged': header('What this answer cost; left out where rows are not counted.', rows),
  'X-Left-Out': header(
    'Datasets that were not asked: too few rows are left, or the index is being made.',
  ),
  'X-Groups': header('`groups`, in formats with no room for it.', rows),
  'X-Rows-Met': header('`rows`, in formats with no room for it.', rows),
  'X-Truncated': header('Whether more follows that is not sent, where the body does not say it.', {
    type: 'boolean',
  }),
  Link: header('The next page as a relative URL, `rel="next"`.'),
  'Retry-After': header('Seconds after which to try again.', count),
  'WWW-Authenticate': header('How to send a token.'),
}

function header(description: string, schema: Json = text): Json {
  return { description, schema }
}

const always = ['X-Request-Id']

/** The limits of a known token, on each of its answers. */
export const limits: readonly string[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
]

export const quotas: readonly string[] = [
  'X-Quota-Rows-Limit',
  'X-Quota-Rows-Remaining',
  'X-Quota-Scope',
]

/** The headers of an answer, as references to components. */
export function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries([...always, ...names].map((name) => [name, refTo('headers', name)]))
}

const errorHeaders: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After', ...limits, ...quotas],
  503: ['Retry-After'],
}

/** Errors of any path. */
const everywhere: readonly ErrorCode[] = ['bad_request', 'headers_too_large', 'internal_error']

/** Errors of paths that read a token. */
export const tokenErrors: readonly ErrorCode[] = ['unauthorized', 'rate_limit_exceeded']

/** Errors of paths that read a body. */
export const bodyErrors: readonly ErrorCode[] = ['payload_too_large', 'unsupported_media_type']

/** Errors of paths that read data. */
export const readErrors: readonly ErrorCode[] = ['service_unavailable', 'timeout']

/** The answers of an operation, including its errors. */
export function answers(successes: Json, errors: readonly ErrorCode[]): Json {
  const statuses = new Set([...everywhere, ...errors].map((code) => errorStatus[code]))
  const refs = [...statuses].map((status) => [status, refTo('responses', String(status))])
  return { ...successes, ...Object.fromEntries(refs) }
}

/** A JSON answer whose shape is a component. */
export function jsonAnswer(description: string, schema: string, names: readonly string[]): Json {
  return {
    description,
    headers: headerRefs(names),
    content: { 'application/json': { schema: refTo('schemas', schema) } },
  }
}

/** Formats of an answer that comes as a whole; generators take the other one for a stream. */
export const wholeFormats = pageFormats.filter((format) => format !== 'ndjson')

/** Data in these formats. `schema` is that of JSON. Without types, clients would lose that type. */
export function dataAnswer(
  description: string,
  formats: readonly (typeof pageFormats)[number][],
  schema: string,
  names: readonly string[],
): Json {
  const text = { schema: { type: 'string' } }
  const binary = { schema: { type: 'string', format: 'binary' } }
  const bodies: Readonly<Record<(typeof pageFormats)[number], Json>> = {
    json: { schema: refTo('schemas', schema) },
    ndjson: text,
    csv: text,
    parquet: binary,
    xlsx: binary,
  }
  const content = formats.map((format) => [mediaTypes[format].split(';', 1)[0], bodies[format]])
  return { description, headers: headerRefs(names), content: Object.fromEntries(content) as Json }
}

/** The error answers by status. */
export const errorAnswers: Readonly<Record<string, Json>> = Object.fromEntries(
  [...new Set(Object.values(errorStatus))].map((status) => {
    const lines = errorCodes
      .filter((code) => errorStatus[code] === status)
      .map((code) => `\`${code}\`: ${errorMeaning(code)}.`)
    return [status, errorAnswer(lines.join('\n'), status)]
  }),
)

function errorAnswer(description: string, status: number): Json {
  return {
    description,
    headers: headerRefs(errorHeaders[status] ?? []),
    content: { 'application/json': { schema: refTo('schemas', 'Error') } },
  }
}
