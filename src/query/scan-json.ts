import { badRequest } from '../errors.js'
import { endOfString, marks } from '../row-texts.js'
import { quoted } from '../text.js'

/** A question has 5 levels, an MCP message with a question 7; clients add metadata. */
const depthMax = 32
/** 50 filters with 1000 values each, a select of 1000 names, and the other fields. */
const valuesMax = 55_000
/** 50 filters have 150 keys. */
const keysMax = 500

/** No character of JSON between two tokens comes after it. */
const space = 32
const { quote, comma, colon, openList, closeList, openObject, closeObject } = marks

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
