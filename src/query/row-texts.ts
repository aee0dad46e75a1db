/** The names and values of a row as JSON texts, in order; keeps every digit. */
export interface RowTexts {
  readonly names: readonly string[]
  readonly cells: readonly string[]
}

/** `JSON.parse` would round numbers and reorder names that consist of digits. */
export function textsOf(row: string): RowTexts {
  const names: string[] = []
  const cells: string[] = []
  let [depth, start, text] = [0, 0, '']
  for (let at = 0; at < row.length; at++) {
    const mark = row.charAt(at)
    if (mark === '"') {
      const end = endOfText(row, at)
      if (depth === 1) text = row.slice(at, end + 1)
      at = end
      continue
    }
    if (mark === '}' || mark === ']') depth--
    const isEnd = (depth === 1 && mark === ',') || (depth === 0 && mark === '}')
    if (isEnd) cells.push(row.slice(start, at).trim())
    if (depth === 1 && mark === ':') {
      names.push(text)
      start = at + 1
    }
    if (mark === '{' || mark === '[') depth++
  }
  return { names, cells }
}

/** Returns the end of the JSON string that begins here; the string may have many megabytes. */
function endOfText(json: string, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end === -1 ? json.length : end
}

function isEscaped(json: string, at: number): boolean {
  let before = at
  while (json[before - 1] === '\\') before--
  return (at - before) % 2 === 1
}
