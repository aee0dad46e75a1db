import Type from 'typebox'
import { Value } from 'typebox/value'
import type { Clock } from '../../clock.js'
import { ServiceError, errorStatus } from '../../errors.js'
import type { ErrorCode } from '../../errors.js'
import { plainText } from '../../plain-text.js'

/** The server and dataset that a query asks, and its token. */
export interface QueryTarget {
  /** Such as `https://data.example.org`, without a slash at the end. */
  readonly base: string
  readonly token: string
  readonly dataset: string
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** The connection failed; the same request may succeed. */
export class ConnectionError extends Error {}

const Schema = Type.Object({
  rows: Type.Integer(),
  limit: Type.Object({ max: Type.Integer() }),
  columns: Type.Array(
    Type.Object({
      name: Type.String(),
      type: Type.String(),
      labels: Type.Optional(Type.Boolean()),
    }),
  ),
})

/** The part of a dataset's schema that a query needs. */
export type ServedDataset = Type.Static<typeof Schema>

const ErrorBody = Type.Object({ error: Type.String(), detail: Type.String() })

/** @throws Error when the server is not a Dataset Access Service; the errors of `getRows` */
export async function readServedDataset(target: QueryTarget): Promise<ServedDataset> {
  const answer = parsed(await bodyText(await getRows(target, '/schema', [])))
  if (Value.Check(Schema, answer)) return answer
  throw new Error(`${target.base} is not a Dataset Access Service.`)
}

/**
 * The answer to a GET request below a dataset's path.
 * @throws ServiceError with the server's error; ConnectionError
 */
export async function getRows(
  { base, token, dataset, signal }: QueryTarget,
  path: string,
  parameters: readonly (readonly [string, string])[],
): Promise<Response> {
  const query = parameters.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')
  const url = `${base}/v1/${encodeURIComponent(dataset)}${path}${query && `?${query}`}`
  const headers = { authorization: `Bearer ${token}` }
  const options = { headers, signal, redirect: 'manual' } as const
  const answer = await fetch(url, options).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw new ConnectionError(`No server answers at ${base}.`, { cause })
  })
  if (answer.ok) return answer
  // A redirect could send the token to another server.
  const elsewhere = answer.headers.get('location')
  if (elsewhere !== null) {
    throw new Error(`${base} redirects to ${elsewhere}. Use --server with that address.`)
  }
  throw await refusalOf(answer, base)
}

/** The body of an answer. @throws ConnectionError when the connection breaks */
export function bodyText(answer: Response): Promise<string> {
  return answer.text().catch((cause: unknown) => {
    throw new ConnectionError('The connection broke.', { cause })
  })
}

/** A proxy answers with these in its own format while its server is away. */
const proxyStatuses = [502, 503, 504]

async function refusalOf(answer: Response, base: string): Promise<Error> {
  const body = parsed(await bodyText(answer))
  const seconds = Number(answer.headers.get('retry-after') ?? NaN)
  const otherwise = `${base} answered ${answer.status}.`
  if (proxyStatuses.includes(answer.status) && !Value.Check(ErrorBody, body)) {
    return new ConnectionError(otherwise)
  }
  return serverError(body, otherwise, seconds)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The error in a server's answer; the text `otherwise` when it holds none. */
export function serverError(body: unknown, otherwise: string, retryAfterSeconds = NaN): Error {
  if (!Value.Check(ErrorBody, body)) return new Error(otherwise)
  const [error, detail] = [plainText(body.error), plainText(body.detail)]
  if (!isCode(error)) return new Error(`${error}: ${detail}`)
  return new ServiceError(error, detail, retryAfterSeconds > 0 ? { retryAfterSeconds } : {})
}

function isCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorStatus, text)
}
