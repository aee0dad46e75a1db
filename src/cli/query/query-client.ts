import Type from 'typebox'
import { Value } from 'typebox/value'
import { ServiceError, errorStatus } from '../../errors.js'
import type { ErrorCode } from '../../errors.js'
import { plainText } from '../../plain-text.js'

/** Where questions go, and with which token. */
export interface QueryTarget {
  /** `https://data.example.org`, without a slash at its end. */
  readonly base: string
  readonly token: string
  readonly dataset: string
  readonly signal: AbortSignal
}

/** The connection failed; the same request may succeed. */
export class ConnectionError extends Error {}

const Schema = Type.Object({
  rows: Type.Integer(),
  limit: Type.Object({ max: Type.Integer() }),
  columns: Type.Array(Type.Object({ name: Type.String(), type: Type.String() })),
})

/** What the server says of a dataset, as far as it is needed to ask for rows and show them. */
export type ServedDataset = Type.Static<typeof Schema>

const Failure = Type.Object({ error: Type.String(), detail: Type.String() })

/** @throws Error where it is no service like ours; what `ask` throws */
export async function readServedDataset(target: QueryTarget): Promise<ServedDataset> {
  const answer = parsed(await bodyText(await getRows(target, '/schema', [])))
  if (Value.Check(Schema, answer)) return answer
  throw new Error(`${target.base} does not answer as a Dataset Access Service does.`)
}

/**
 * The answer to a GET below a dataset's path.
 * @throws ServiceError with the server's own words; ConnectionError
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
  // Where a redirect leads, the token would not go along.
  const elsewhere = answer.headers.get('location')
  if (elsewhere !== null) throw new Error(`${base} redirects to ${elsewhere}: name that server.`)
  throw await refusalOf(answer, base)
}

/** The text of an answer; @throws ConnectionError where it breaks off */
export function bodyText(answer: Response): Promise<string> {
  return answer.text().catch((cause: unknown) => {
    throw new ConnectionError('The connection broke.', { cause })
  })
}

/** A proxy that has no server behind it says so in words of its own. */
const passing = [502, 503, 504]

async function refusalOf(answer: Response, base: string): Promise<Error> {
  const told = parsed(await bodyText(answer))
  const seconds = Number(answer.headers.get('retry-after') ?? NaN)
  const otherwise = `${base} answered ${answer.status}.`
  if (passing.includes(answer.status) && !Value.Check(Failure, told)) {
    return new ConnectionError(otherwise)
  }
  return serverError(told, otherwise, seconds)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** An error that the server told, as an error of ours. */
export function serverError(told: unknown, otherwise: string, retryAfterSeconds = NaN): Error {
  if (!Value.Check(Failure, told)) return new Error(otherwise)
  const { error, detail } = { error: plainText(told.error), detail: plainText(told.detail) }
  if (!isCode(error)) return new Error(`${error}: ${detail}`)
  return new ServiceError(error, detail, retryAfterSeconds > 0 ? { retryAfterSeconds } : {})
}

function isCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorStatus, text)
}
