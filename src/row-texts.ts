/** The names and values of an object as JSON texts, in order; a list has only values. */
export interface RowTexts {
  readonly names: readonly string[]
  readonly cells: readonly string[]
}

/** The characters that structure a JSON text. */
export const marks = {
  quote: 34,
  comma: 44,
  colon: 58,
  openList: 91,
  closeList: 93,
  openObject: 123,
  closeObject: 125,
} as const

const backslash = 92

/**
 * Splits the valid JSON text of an object or a list, and keeps every digit. `JSON.parse` would
 * reorder names that consist of digits, and lose repeated ones.
 */
export function textsOf(json: string): RowTexts {
  const names: string[] = []
  const cells: string[] = []
  let [depth, start, text] = [0, 0, '']
  for (let at = 0; at < json.length; at++) {
    const mark = json.charCodeAt(at)
    switch (mark) {
      case marks.quote: {
        const end = endOfString(json, at)
        if (depth === 1) text = json.slice(at, end + 1)
        at = end
        break
      }
      case marks.openList:
      case marks.openObject:
        if (depth++ === 0) start = at + 1
        break
      case marks.colon:
        if (depth !== 1) break
        names.push(text)
        start = at + 1
        break
      case marks.comma:
      case marks.closeList:
      case marks.closeObject: {
        const cell = depth === 1 ? json.slice(start, at).trim() : ''
        if (cell !== '') cells.push(cell)
        if (depth === 1) start = at + 1
        if (mark !== marks.comma) depth--
      }
    }
  }
  return { names, cells }
}

/** The cells of an object as JSON texts, by their names. */
export function cellsByName(json: string): ReadonlyMap<string, string> {
  const { names, cells } = textsOf(json)
  return new Map(names.map((name, at) => [JSON.parse(name) as string, cells[at] ?? 'null']))
}

/** The text of a JSON string; any other value as it is written. */
export function textOfJson(json: string): string {
  return json.startsWith('"') ? (JSON.parse(json) as string) : json
}

/**
 * Returns the value of a key of an object, unchanged, from a valid JSON text. For a repeated key
 * the last value counts, like in `JSON.parse`. Empty for an absent key.
 */
export function memberText(json: string, name: string): string {
  const { names, cells } = textsOf(json)
  return cells[names.findLastIndex((each) => JSON.parse(each) === name)] ?? ''
}

/** The index of the quote that ends the string at `start`; the text's length without one. */
export function endOfString(text: string, start: number): number {
  const first = text.indexOf('"', start + 1)
  if (first === -1) return text.length
  if (text.charCodeAt(first - 1) !== backslash) return first
  for (let at = start + 1; at < text.length; at++) {
    const mark = text.charCodeAt(at)
    if (mark === backslash) at++
    else if (mark === marks.quote) return at
  }
  return text.length
}
