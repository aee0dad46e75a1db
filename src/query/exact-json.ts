import { badRequest } from '../errors.js'
import { endOfString, marks } from '../row-texts.js'
import { requireBounded, requireSingleKeys } from './scan-json.js'

/** TypeScript 5.9 lacks these parts of ES2026. */
declare global {
  interface JSON {
    /** `source` is the text of a value that is not an object or a list. */
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown
    rawJSON(text: string): object
  }
}

const digitsMax = 15
/** The smallest double with full precision has 308 leading zeros. */
const numberLengthMax = 400
const plus = 43
const minus = 45
const point = 46
const zero = 48
const nine = 57
const largeE = 69
const smallE = 101
/** Smaller doubles have less precision than 15 digits. */
const smallestNormal = 2 ** -1022

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
    if (code === marks.quote) index = endOfString(text, index)
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
  return readNumbers(text, (_digits, value) => value)
}

/**
 * Reads internal JSON like `parseKeepingDigits`, to be written again: `JSON.stringify` writes the
 * other numbers with their digits, such as 7.000.
 */
export function parseToWrite(text: string): unknown {
  return readNumbers(text, (digits) => JSON.rawJSON(digits))
}

function readNumbers(text: string, read: (digits: string, value: number) => unknown): unknown {
  return JSON.parse(text, (_key, value, { source = '' }) => {
    if (typeof value !== 'number') return value
    return isInexact(source) ? source : read(source, value)
  })
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
