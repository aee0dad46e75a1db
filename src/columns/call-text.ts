import { correctable } from './correction.js'
import { parseOperand, plainName, sideText } from './formula.js'
import type { Operand } from './formula.js'
import { badRequest } from '../errors.js'
import { quoted } from '../text.js'

/** One element of `group`, `measures` or `order`: a name, or a function with its arguments. */
export interface Call {
  /** As written, without the name in front. */
  readonly text: string
  /** `revenue` of `revenue:sum(2110)`. */
  readonly alias: string | null
  /** The name of the function; without brackets, any name. */
  readonly name: string
  /** The arguments between commas, each as what is between slashes; null without brackets. */
  readonly operands: readonly (readonly Operand[])[] | null
}

/** A call with a direction: `-revenue`. */
export interface DirectedCall {
  readonly call: Call
  readonly isDescending: boolean
}

const lettersMax = 10_000
/** The `-` of an element, with a space before it. */
const signLettersMax = 10
const bare = String.raw`[^\s",:/()\\][^",:/()\\]*`
const word = String.raw`\s*(?:"(?:[^"\\]|\\["\\])*"\s*|${bare})`
/** A name, or a formula of names: what is neither of both is refused once the text is split. */
const operand = String.raw`\s*(?=\S)(?:"(?:[^"\\]|\\["\\])*"|[^",:/()\\])+`
const operands = String.raw`${operand}(?:[,/]${operand})*`
const callPattern = new RegExp(String.raw`(?:(${word}):)?(${word})(?:\((${operands})\)\s*)?`, 'y')
const operandPattern = new RegExp(`(${operand})([,/]|$)`, 'y')

/**
 * Parses a comma-separated list of names and function calls, such as
 * `year,prefix(okved,2),revenue:sum(2110)`. A name with one of `,:/()`, a quote or a backslash, or
 * with spaces around it, needs double quotes, with `\"` and `\\`. `where` is for messages.
 * @throws bad_request for what can't be read
 */
export function parseCalls(text: string, where: string): readonly Call[] {
  const calls: Call[] = []
  for (let start = 0; start <= text.length;) {
    const { call, end } = readElement(text, start, where)
    calls.push(call)
    start = end + 1
  }
  return calls
}

/**
 * Does the same for a list whose elements may begin with `-`, for descending.
 * @throws bad_request for what can't be read
 */
export function parseDirectedCalls(text: string, where: string): readonly DirectedCall[] {
  const calls: DirectedCall[] = []
  for (let start = 0; start <= text.length;) {
    const [sign = ''] = /^\s*-/.exec(text.slice(start, start + signLettersMax)) ?? []
    const { call, end } = readElement(text, start + sign.length, where)
    calls.push({ call, isDescending: sign !== '' })
    start = end + 1
  }
  return calls
}

/**
 * Parses the call at the beginning of a text that goes on with a dot, such as `sum(2110).gt.5`. A
 * name without quotes and brackets ends at its first dot. Undefined for any other text.
 */
export function parseCallBeforeDot(
  text: string,
): { readonly call: Call; readonly rest: string } | undefined {
  const name = /^[^".(]+(?=\.)/.exec(text)?.[0]
  const head = name ?? text.slice(0, lettersMax)
  const read = readCall(head, 0)
  if (!read || text[read.end] !== '.') return undefined
  return { call: read.call, rest: text.slice(read.end + 1) }
}

/** What is between the slashes of an argument, `2400/2110`; undefined if it can't be read. */
export function parseArgument(text: string): readonly Operand[] | undefined {
  if (text.length > lettersMax || !new RegExp(`^${operands}$`).test(text)) return undefined
  const [all = [], ...others] = operandsOf(text) ?? []
  return others.length === 0 && all.length > 0 ? all : undefined
}

/** An element that ends at a comma or at the end of the text. */
function readElement(text: string, start: number, where: string): { call: Call; end: number } {
  if (text.length > lettersMax) throw badRequest(`${where} has over ${lettersMax} characters.`)
  const read = readCall(text, start)
  const isWhole = read !== undefined && (read.end === text.length || text[read.end] === ',')
  if (!isWhole) throw malformed(text.slice(start), where)
  return read
}

function readCall(text: string, start: number): { call: Call; end: number } | undefined {
  callPattern.lastIndex = start
  const match = callPattern.exec(text)
  if (!match) return undefined
  const [whole, alias, name = '', inner] = match
  const operands = inner === undefined ? null : operandsOf(inner)
  if (operands === undefined) return undefined
  const call = {
    text: (alias === undefined ? whole : whole.slice(alias.length + 1)).trim(),
    alias: alias === undefined ? null : plainName(alias),
    name: plainName(name),
    operands,
  }
  const isNamed = call.name !== '' && call.alias !== ''
  return isNamed ? { call, end: start + whole.length } : undefined
}

/** Undefined if an operand with quotes is neither a name nor a formula. */
function operandsOf(inner: string): readonly (readonly Operand[])[] | undefined {
  const all: Operand[][] = [[]]
  operandPattern.lastIndex = 0
  while (operandPattern.lastIndex < inner.length) {
    const [, written = '', separator] = operandPattern.exec(inner) ?? []
    const operand = parseOperand(written)
    if (!operand.side && written.includes('"')) return undefined
    all.at(-1)?.push(operand)
    if (separator === ',') all.push([])
  }
  return all
}

/** Writes a name for a list of calls, in quotes if it needs them, as a leading `-` does. */
export function callName(name: string): string {
  const isPlain = name !== '' && name === name.trim() && !/^-|[",:/()\\]/.test(name)
  return isPlain ? name : quotedName(name)
}

/** Writes a name in quotes, as it can stand in every list and formula. */
export function quotedName(name: string): string {
  return `"${name.replace(/[\\"]/g, '\\$&')}"`
}

/** An operand as a request has it, for `parseOperand`. */
export function operandText({ name, side }: Operand): string {
  return side && (side.terms.length > 1 || side.factor !== null || side.terms[0]?.at !== null)
    ? sideText(side, termName)
    : callName(name)
}

/** A name within a formula. */
function termName(name: string): string {
  return /[+*@-]/.test(name) ? quotedName(name) : callName(name)
}

/** `sum(a)/sum(b)`, which is written `ratio(a/b)`. */
const quotientOfSums = /^\s*sum\(([^()/*,]+)\)\s*\/\s*sum\(([^()/*,]+)\)\s*(?=,|$)/i

/** A call, a word after it, and a name; the element ends here. */
const elementPattern = /^\s*(\w+\([^()]*\))\s*(as\b|asc\b|desc\b|:)(?:\s*(\w+))?\s*(?=,|$)/i

/** `sum(a) as b` and `sum(a):b` of measures, `sum(a) desc` of an order, a missing bracket. */
function meantElement(
  rest: string,
  where: string,
): { readonly text: string; readonly meant?: string } {
  const [text = '', call = '', word = '', name = ''] = elementPattern.exec(rest) ?? []
  if (where === 'measures' && /^(?:as|:)$/i.test(word) && name !== '') {
    return { text, meant: `${name}:${call}` }
  }
  if (name === '' && /^(?:asc|desc)$/i.test(word)) {
    return { text, meant: `${word.toLowerCase() === 'desc' ? '-' : ''}${call}` }
  }
  const [open] = /^\s*\w+\([^()]+$/.exec(rest) ?? []
  return open === undefined ? { text } : { text: open, meant: `${open})` }
}

function malformed(rest: string, where: string): Error {
  if (rest.trim() === '' || rest.startsWith(',')) {
    return badRequest(`${where} has an empty element. Leave the extra comma out.`)
  }
  const [written, dividend = '', divisor = ''] = quotientOfSums.exec(rest) ?? []
  if (written !== undefined) {
    const meant = `ratio(${dividend}/${divisor})`
    const detail = `${where}: write a quotient of sums as ${meant}, over the rows that have both.`
    return correctable(detail, { kind: 'part', key: where, written, meant, isExample: true })
  }
  const { text, meant } = meantElement(rest, where)
  if (meant !== undefined) {
    const detail = `${where}: write ${quoted(text)} as ${meant}`
    return correctable(detail, { kind: 'part', key: where, written: text, meant })
  }
  return badRequest(
    `${where}: ${quoted(rest)} can't be read. Write a name or a function, such as sum(amount); ` +
      'a name with , : / ( ) or a quote is written "…" with \\" and \\\\.',
  )
}
