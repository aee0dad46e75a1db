import { textsOf } from '../../row-texts.js'
import { openText } from './csv-table.js'
import { fileText } from './file-text.js'
import { TableError, recordLettersMax, shownText } from './table.js'
import type { BadLines, TableOrder, TableRow, TableSource } from './table.js'

const listHint = '; write one object in each line (jq -c ".[]" does)'

/**
 * Opens a file with a JSON object in each line. Its keys are the columns, in the order in which
 * they first appear; a key that a line lacks is empty. Lists and objects are kept as JSON text.
 * Values are split here, because DuckDB reads every number with a point as a double.
 * @throws TableError; bad_request for an unknown encoding
 */
export async function openNdjson(order: TableOrder, bad: BadLines): Promise<TableSource> {
  const text = await openText(order)
  const places = new Map<string, number>()
  const names: string[] = []
  const texts = new Map<number, number>()
  const rowsOf = (json: string, line: number): readonly TableRow[] => {
    const cells: (string | null)[] = []
    for (const [key, value] of membersOf(json, line, bad)) {
      const place = places.get(key) ?? names.push(key) - 1
      places.set(key, place)
      if (/^["[{]/.test(value)) texts.set(place, line)
      while (cells.length < place) cells.push(null)
      cells[place] = cellOf(value)
    }
    return json.trim() === '' ? [] : [{ line, cells }]
  }
  async function* rows() {
    let [rest, line] = ['', 0]
    for await (const part of fileText(order.path, text.encoding)) {
      const lines = (rest + part).split('\n')
      rest = lines.pop() ?? ''
      yield lines.flatMap((each) => rowsOf(each, ++line))
      if (rest.length <= recordLettersMax) continue
      const hint = rest.trimStart().startsWith('[') ? listHint : ''
      bad.add(line + 1, `over ${recordLettersMax} characters${hint}; what follows was not read`)
      return
    }
    yield rowsOf(rest, ++line)
    if (names.length === 0 && bad.count === 0)
      throw new TableError([`error: ${order.file} has no row`])
  }
  return {
    ...text,
    separator: null,
    sheet: null,
    names,
    texts,
    notes: [],
    doubts: [],
    rows: rows(),
  }
}

/** Keys with the JSON texts of their values; none for a bad line. */
function membersOf(
  json: string,
  line: number,
  bad: BadLines,
): readonly (readonly [string, string])[] {
  if (json.trim() === '') return []
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    bad.add(line, `not valid JSON: ${shownText(json)}`)
    return []
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    bad.add(line, `not an object${Array.isArray(value) ? listHint : ''}`)
    return []
  }
  const { names, cells } = textsOf(json)
  if (names.length === Object.keys(value).length) {
    return names.map((name, at) => [JSON.parse(name) as string, cells[at] ?? 'null'])
  }
  bad.add(line, 'a key is used twice')
  return []
}

function cellOf(value: string): string | null {
  if (value === 'null' || value === '""') return null
  return value.startsWith('"') ? (JSON.parse(value) as string) : value
}
