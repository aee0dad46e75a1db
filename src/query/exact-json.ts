import { recordOf } from '../catalog/shape.js'
import { badRequest } from '../errors.js'

const digitsMax = 15
/** The smallest double that keeps its digits has 308 zeros in front of them. */
const numberLengthMax = 400
/** No question is nested so deeply: what is, its shape refuses. */
const depthMax = 8
/** Below it a double has fewer digits than these. */
const smallestNormal = 2 ** -1022

/** The strings of a JSON text, to be passed over, and its numbers. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

/**
 * Reads a JSON text that a caller sent. `what` names it in messages.
 * @throws bad_request for broken JSON, or a number that JSON readers round
 */
export function parseExactJson(text: string, what: string): unknown {
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
  for (const [token] of text.matchAll(tokens)) {
    if (!token.startsWith('"') && isInexact(token)) throw inexactNumber(token)
  }
}

/**
 * The same for a part of a larger text: `read` as JSON readers give it, and `kept` as
 * `parseKeepingDigits` does.
 * @throws bad_request
 */
export function requireExactPart(read: unknown, kept: unknown, depth = 0): void {
  if (typeof read === 'number' && typeof kept === 'string') throw inexactNumber(kept)
  if (typeof read !== 'object' || read === null || depth > depthMax) return
  const keptParts = recordOf(kept)
  for (const [key, part] of Object.entries(read)) requireExactPart(part, keptParts[key], depth + 1)
}

function inexactNumber(digits: string): Error {
  const start = digits.slice(0, 40)
  return badRequest(`The number ${start} can't be kept exactly in JSON: send it as a string.`)
}

/** Reads a JSON text of our own; a number that JSON readers round becomes a text of its digits. */
export function parseKeepingDigits(text: string): unknown {
  return JSON.parse(keepingDigits(text))
}

/** A JSON text of our own, where a number that JSON readers round becomes a text of its digits. */
export function keepingDigits(text: string): string {
  return text.replace(tokens, (token) =>
    token.startsWith('"') || !isInexact(token) ? token : `"${token}"`,
  )
}

const json = Symbol('json')

/** A value as its JSON text, for `exactJsonText`: read and written again, 7.000 would be 7. */
export interface WrittenJson {
  readonly [json]: string
}

/** A value that `exactJsonText` writes as this text, which must be JSON of our own. */
export function writtenJson(text: string): WrittenJson {
  return { [json]: text }
}

/** `JSON.stringify` of what may hold written JSON, which stands in it as it is. */
export function exactJsonText(content: unknown): string {
  if (typeof content !== 'object' || content === null) return JSON.stringify(content ?? null)
  if (isWritten(content)) return content[json]
  if (Array.isArray(content)) return `[${content.map(exactJsonText).join()}]`
  const members = Object.entries(content).flatMap(([key, part]) =>
    part === undefined ? [] : [`${JSON.stringify(key)}:${exactJsonText(part)}`],
  )
  return `{${members.join()}}`
}

function isWritten(content: object): content is WrittenJson {
  return json in content
}

function isInexact(token: string): boolean {
  if (token.length > numberLengthMax) return true
  const digits = (token.split(/[eE]/)[0] ?? '').replace(/[-.]/g, '').replace(/^0+|0+$/g, '')
  const size = Math.abs(Number(token))
  const isTooSmall = digits !== '' && size < smallestNormal
  return digits.length > digitsMax || size > Number.MAX_SAFE_INTEGER || isTooSmall
}
