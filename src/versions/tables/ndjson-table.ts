import { decodedText, requireEncoding } from './decoded-text.js'
import { recognizeEncoding } from './recognize-encoding.js'
import { BadLines, TableError, recordLettersMax, requireNames } from './table.js'
import type { Table, TableOptions, TableRow } from './table.js'
import { textsOf } from '../../row-texts.js'
import { quoted } from '../../text.js'

interface JsonLine {
  readonly line: number
  /** Keys with the JSON texts of their values. */
  readonly members: Members
}

type Members = readonly (readonly [key: string, value: string])[]

/**
 * Opens a file with a JSON object in each line. Its keys are the columns, in the order in which
 * they first appear; a key that a line lacks is empty. Lists and objects are kept as JSON text.
 * @throws TableError; bad_request for an unknown encoding
 */
export async function openNdjson(
  path: string,
  file: string,
  options: TableOptions,
): Promise<Table> {
  const encoding =
    options.encoding === null
      ? await recognizeEncoding(path, file)
      : requireEncoding(options.encoding)
  const names = new Map<string, number>()
  const texts = new Set<number>()
  const bad = new BadLines()
  for await (const lines of jsonLines(path, encoding, bad)) {
    for (const { members } of lines) {
      for (const [key, value] of members) {
        const index = names.get(key) ?? names.size
        names.set(key, index)
        if (/^["[{]/.test(value)) texts.add(index)
      }
    }
  }
  bad.requireNone(file, 'line')
  if (names.size === 0) throw new TableError([`error: ${file} has no row`])
  const columns = requireNames([...names.keys()], file)
  return {
    format: 'NDJSON',
    encoding,
    separator: null,
    names: columns,
    texts,
    rows: (badLines) => tableRows(path, encoding, names, badLines),
  }
}

async function* tableRows(
  path: string,
  encoding: string,
  names: ReadonlyMap<string, number>,
  bad: BadLines,
): AsyncGenerator<TableRow[]> {
  for await (const lines of jsonLines(path, encoding, bad)) {
    yield lines.map(({ line, members }) => {
      const cells: (string | null)[] = Array.from({ length: names.size }, () => null)
      for (const [key, value] of members) cells[names.get(key) ?? 0] = cellOf(value)
      return { line, cells }
    })
  }
}

function cellOf(value: string): string | null {
  if (value === 'null' || value === '""') return null
  return value.startsWith('"') ? (JSON.parse(value) as string) : value
}

async function* jsonLines(
  path: string,
  encoding: string,
  bad: BadLines,
): AsyncGenerator<JsonLine[]> {
  let [rest, line] = ['', 0]
  for await (const { text, isEnd } of decodedText(path, encoding, bad)) {
    const parts = (rest + text).split('\n')
    rest = isEnd ? '' : (parts.pop() ?? '')
    const lines: JsonLine[] = []
    for (const part of parts) {
      line += 1
      const members = part.trim() === '' ? null : lineMembers(part, line, bad)
      if (members) lines.push({ line, members })
    }
    yield lines
    if (rest.length <= recordLettersMax) continue
    const hint = rest.trimStart().startsWith('[') ? listHint : ''
    bad.add(line + 1, `over ${recordLettersMax} characters${hint}; what follows was not read`)
    return
  }
}

const listHint = '; write one object in each line (jq -c ".[]" does)'

function lineMembers(text: string, line: number, bad: BadLines): Members | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    bad.add(line, `not valid JSON: ${quoted(text.trim().slice(0, 60))}`)
    return null
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    bad.add(line, `not an object${Array.isArray(value) ? listHint : ''}`)
    return null
  }
  const { names, cells } = textsOf(text)
  if (names.length === Object.keys(value).length) {
    return names.map((name, at) => [JSON.parse(name) as string, cells[at] ?? 'null'])
  }
  bad.add(line, 'a key is used twice')
  return null
}
