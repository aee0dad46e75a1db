import { badRequest } from '../errors.js'

/**
 * Parses a comma-separated list. An element with a comma, a quote or a backslash needs double
 * quotes, with `\"` and `\\`. Nothing is trimmed. `name` is for messages.
 * @throws bad_request for an empty list or element, a bracket in front, a stray quote or backslash
 */
export function parseList(text: string, name: string): readonly string[] {
  if (text.startsWith('(')) {
    throw badRequest(
      `${name} takes a bare list, a,b,c, without brackets; quote a value that begins with "(".`,
    )
  }
  const elements: string[] = []
  const rest = /(?:"((?:[^"\\]|\\["\\])*)"|([^",\\]+))(,|$)/y
  do {
    const match = rest.exec(text)
    if (!match) throw malformedList(text, elements.length + 1, name)
    const [, inQuotes, bare, comma] = match
    elements.push(inQuotes?.replace(/\\(["\\])/g, '$1') ?? bare ?? '')
    if (comma === '') return elements
  } while (rest.lastIndex <= text.length)
  return elements
}

function malformedList(text: string, element: number, name: string): Error {
  const form = 'write a value that holds a comma, a quote or a backslash as "…" with \\" and \\\\'
  if (text === '') {
    return badRequest(`${name} needs at least one value; write "" for the empty text.`)
  }
  const isEmpty = text.endsWith(',') || text.startsWith(',') || text.includes(',,')
  const hint = isEmpty ? 'an empty element is written ""; ' : ''
  return badRequest(`${name}: element ${element} can't be read; ${hint}${form}.`)
}
