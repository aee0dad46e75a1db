import { badRequest } from '../errors.js'
import { endOfString } from '../row-texts.js'
import { requireBounded, requireSingleKeys } from './scan-json.js'

const digitsMax = 15
/** The smallest double with full precision has 308 leading zeros. */
const numberLengthMax = 400
const quote = 34
const plus = 43
const minus = 45
const point = 46
const zero = 48
const nine = 57
const largeE = 69
const smallE = 101
/** Smaller doubles have less precision than 15 digits. */
const smallestNormal = 2 ** -1022

/** Matches the strings of a JSON text, which are skipped, and its numbers. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

/**
 * Reads a JSON text from a caller. `what` names it in messages.
 * @throws bad_request for broken JSON, for more than a question can hold, for a repeated key, or
 *   for a number that JSON readers round
 */
export function parseExactJson(text: string, what: string): unknown {
  requireBounded(text, what)
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw badRequest(`${what} is not valid JSON.`)
  }
  requireExactNumbers(text)
  requireSingleKeys(text, what)
  return content
}

/**
 * Refuses a JSON number beyond ±(2^53−1), or with more than 15 significant digits: a client may
 * have rounded it already. The text is valid JSON, or a part of it.
 * @throws bad_request
 */
export function requireExactNumbers(text: string): void {
  const digits = firstInexact(text)
  if (digits === undefined) return
  const start = digits.slice(0, 40)
  throw badRequest(`The number ${start} can't be kept exactly in JSON: send it as a string.`)
}

/**
 * Returns the first number of a valid JSON text that JSON readers round, in its original form. With
 * a reviver, `JSON.parse` would hold the event loop two to five times as long for the largest body.
 */
export function firstInexact(text: string): string | undefined {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) index = endOfString(text, index)
    else if (code === minus || isDigit(code)) {
      const start = index
      let isPlain = true
      for (; index < text.length; index++) {
        const next = text.charCodeAt(index)
        if (next === smallE || next === largeE || next === plus) isPlain = false
        else if (!isDigit(next) && next !== point && next !== minus) break
      }
      const isShort = isPlain && index - start <= digitsMax
      const token = isShort ? '' : text.slice(start, index)
      if (!isShort && isInexact(token)) return token
      index--
    }
  }
  return undefined
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine
}

/** Reads internal JSON; a number that JSON readers round becomes a string of its digits. */
export function parseKeepingDigits(text: string): unknown {
  return JSON.parse(keepingDigits(text))
}

/** Converts internal JSON; a number that JSON readers round becomes a string of its digits. */
export function keepingDigits(text: string): string {
  return text.replace(tokens, (token) =>
    token.startsWith('"') || !isInexact(token) ? token : `"${token}"`,
  )
}

const json = Symbol('json')

/** A value as JSON text, for `exactJsonText`: parsing and writing it would turn 7.000 into 7. */
export interface WrittenJson {
  readonly [json]: string
}

/** A value that `exactJsonText` writes as this text, which must be JSON from this service. */
export function writtenJson(text: string): WrittenJson {
  return { [json]: text }
}

/** `JSON.stringify` for a value that may contain written JSON, which is copied unchanged. */
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
  const digits = significantDigits(token)
  const size = Math.abs(Number(token))
  const isTooSmall = digits > 0 && size < smallestNormal
  return digits > digitsMax || size > Number.MAX_SAFE_INTEGER || isTooSmall
}

/** Counts the digits from the first to the last that is not zero. */
function significantDigits(token: string): number {
  let digits = 0
  let zeros = 0
  for (let index = 0; index < token.length; index++) {
    const code = token.charCodeAt(index)
    if (code === zero) zeros++
    else if (isDigit(code)) {
      digits = digits === 0 ? 1 : digits + zeros + 1
      zeros = 0
    } else if (code !== minus && code !== point) break
  }
  return digits
}
