import { badRequest } from '../errors.js'
import { quoted } from '../text.js'

/** A question has 5 levels, an MCP message with a question 7; clients add metadata. */
const depthMax = 32
/** 50 filters with 1000 values each, a select of 1000 names, and the other fields. */
const valuesMax = 55_000
/** 50 filters have 150 keys. */
const keysMax = 500

/** No character of JSON between two tokens comes after it. */
const space = 32
const quote = 34
const comma = 44
const colon = 58
const openList = 91
const backslash = 92
const closeList = 93
const openObject = 123
const closeObject = 125

/**
 * Refuses a JSON text that holds more than any valid question, before it is parsed. The scan
 * allocates nothing and stops at the first excess. `what` names the text in messages. The scan
 * accepts broken JSON; the parser refuses it.
 * @throws bad_request
 */
export function requireBounded(text: string, what: string): void {
  let depth = 0
  let values = 0
  let keys = 0
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case quote:
        index = endOfString(text, index)
        break
      case openList:
      case openObject:
        depth++
        values++
        break
      case closeList:
      case closeObject:
        depth--
        break
      case comma:
        values++
        break
      case colon:
        keys++
        break
      default:
        continue
    }
    if (depth > depthMax) throw badRequest(`${what} is nested more than ${depthMax} levels deep.`)
    if (keys > keysMax) throw badRequest(`${what} has more than ${keysMax} keys.`)
    if (values > valuesMax) {
      throw badRequest(
        `${what} has more than ${valuesMax} values: a question takes at most 50 filters, and a ` +
          'list at most 1000 values.',
      )
    }
  }
}

/**
 * Refuses a valid JSON text with an object that has a key twice: the parser keeps the last one, and
 * a filter would be lost. `what` names the text in messages.
 * @throws bad_request
 */
export function requireSingleKeys(text: string, what: string): void {
  const key = repeatedKey(text)
  if (key !== undefined) throw badRequest(`${what}: ${quoted(key)} is given twice. Give it once.`)
}

/** The first key that an object of a valid JSON text has twice. */
export function repeatedKey(text: string): string | undefined {
  const keys: Set<string>[] = []
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === openObject) keys.push(new Set())
    else if (code === closeObject) keys.pop()
    else if (code === quote) {
      const end = endOfString(text, index)
      if (isKey(text, end + 1)) {
        const key = JSON.parse(text.slice(index, end + 1)) as string
        if (keys.at(-1)?.has(key)) return key
        keys.at(-1)?.add(key)
      }
      index = end
    }
  }
  return undefined
}

/** Whether a colon follows, after spaces. */
function isKey(text: string, after: number): boolean {
  let index = after
  while (text.charCodeAt(index) <= space) index++
  return text.charCodeAt(index) === colon
}

/** The index of the quote that ends the string at `start`; the text's length without one. */
export function endOfString(text: string, start: number): number {
  let index = start + 1
  for (; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === backslash) index++
    else if (code === quote) return index
  }
  return text.length
}

/**
 * Returns the value of a key of the outermost object, unchanged, from a valid JSON text. For a
 * repeated key the last value counts, like in `JSON.parse`. Empty for an absent key.
 */
export function memberText(text: string, name: string): string {
  let found = ''
  let depth = 0
  let key = ''
  let start = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    switch (code) {
      case quote: {
        const end = endOfString(text, index)
        if (depth === 1 && start === 0) key = text.slice(index, end + 1)
        index = end
        break
      }
      case colon:
        if (depth === 1) start = index + 1
        break
      case openList:
      case openObject:
        depth++
        break
      case comma:
      case closeList:
      case closeObject:
        if (depth === 1 && start > 0 && JSON.parse(key) === name) found = text.slice(start, index)
        if (depth === 1) start = 0
        if (code !== comma) depth--
        break
    }
  }
  return found
}
