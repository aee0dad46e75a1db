import { textOfJson, textsOf } from '../../row-texts.js'
import { openText } from './csv-table.js'
import { recordLettersMax, shownText } from './table.js'
import type { ReadBytes, TableOrder, TableRow, TableSource } from './table.js'

const listHint = '; write one object in each line (jq -c ".[]" does)'
const spread = /^\s*(\[|\{\s*$)/
const spreadHint = '; write each object in one line (jq -c . does)'

/**
 * Opens a file with a JSON object in each line. Its keys are the columns, in the order in which
 * they first appear; a key that a line lacks is empty. Lists and objects are kept as JSON text.
 * DuckDB's own reader rounds numbers with a point to doubles.
 * @throws TableError; bad_request for an unknown encoding
 */
export async function openNdjson(order: TableOrder, bytes: ReadBytes): Promise<TableSource> {
  const { encoding, parts, checked } = await openText(order, bytes)
  const names: string[] = []
  const places = new Map<string, number>()
  let [rest, line, isStopped] = ['', 0, false]
  const rowsOf = (json: string): readonly TableRow[] => {
    line += 1
    if (json.trim() === '' || isStopped) return []
    const members = membersOf(json)
    if (typeof members === 'string') {
      // JSON over several lines has no line to read.
      isStopped = names.length === 0 && spread.test(json)
      return [{ line, cells: [], problem: members }]
    }
    const cells: (string | null)[] = []
    const isText: boolean[] = []
    for (const [key, value] of members) {
      const place = places.get(key) ?? names.push(key) - 1
      places.set(key, place)
      isText[place] = /^["[{]/.test(value)
      while (cells.length <= place) cells.push(null)
      const text = textOfJson(value)
      cells[place] = value === 'null' || text === '' ? null : text
    }
    return [{ line, cells, isText }]
  }
  async function* rows() {
    for await (const part of parts()) {
      const lines = (rest + part).split('\n')
      rest = lines.pop() ?? ''
      yield checked(lines.flatMap((each) => rowsOf(each)))
      if (rest.length > recordLettersMax) break
    }
    const hint = rest.trimStart().startsWith('[') ? listHint : ''
    const problem = `over ${recordLettersMax} characters${hint}; what follows was not read`
    if (rest.length <= recordLettersMax) yield checked(rowsOf(rest))
    else yield [{ line: line + 1, cells: [], problem }]
  }
  const none = { separator: null, sheet: null, notes: [], doubts: [] }
  return { encoding, ...none, names, rows: rows() }
}

/** Keys with the JSON texts of their values, or what is wrong. */
function membersOf(json: string): readonly (readonly [key: string, value: string])[] | string {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    const [, open] = spread.exec(json) ?? []
    const hint = open === undefined ? '' : open === '[' ? listHint : spreadHint
    return `not valid JSON: ${shownText(json)}${hint}`
  }
  if (Array.isArray(value)) return `not an object${listHint}`
  if (typeof value !== 'object' || value === null) return 'not an object'
  const { names, cells } = textsOf(json)
  if (names.length !== Object.keys(value).length) return 'a key is used twice'
  return names.map((name, at) => [JSON.parse(name) as string, cells[at] ?? 'null'])
}
