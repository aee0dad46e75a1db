import type { JudgeCell, KeyColumn } from '../../../lists/judge-key.js'
import { openList } from '../../../lists/open-list.js'
import type { ListFile } from '../../../lists/open-list.js'
import { hasValues } from '../../../lists/read-keys.js'
import type { TableRow } from '../../../versions/tables/table.js'

interface KeyFacts {
  readonly key: KeyColumn & { readonly name: string }
  /** What headings call the key, in small letters. */
  readonly headings: readonly string[]
  readonly judge: JudgeCell
}

const guessedRowsMax = 1000
/** A larger list is for `das enrich`, which does not keep it in memory. */
export const listBytesMax = 50e6
const partBytes = 256 * 1024

/**
 * Opens the content of a list; `.txt` is CSV.
 * @throws TableError for a file that can't be read; bad_request for another format
 */
export function openContent(name: string, content: Uint8Array): Promise<ListFile> {
  const file = name.replace(/\.txt$/i, '.csv')
  const recognised = { encoding: null, separator: null, sheet: null }
  return openList({ file, ...recognised }, async function* () {
    for (let at = 0; at < content.length; at += partBytes) {
      yield Promise.resolve(content.subarray(at, at + partBytes))
    }
  })
}

/** Opens a pasted column, which gets the name of the key where its first line is no name. */
export function openPasted(pasted: string, { key, headings, judge }: KeyFacts): Promise<ListFile> {
  const text = pasted.replace(/^[\r\n]+/, '')
  const [first = ''] = text.split(/[\r\n]/, 1)
  const isName =
    headings.includes(first.trim().toLowerCase()) || (key.check && !isLike(judge, first))
  const heading = isName || /[\t;,]/.test(first) ? '' : `${key.name}\n`
  return openContent('list.csv', new TextEncoder().encode(`\ufeff${heading}${text}`))
}

function isLike(judge: JudgeCell, cell: string | null): boolean {
  const judged = judge(cell)
  return judged.kind === 'key' || judged.withZero !== null
}

/**
 * The names of a list's columns, and the one that has the keys: by its name, or by the first cell
 * that is a key. No names where the list has none above its keys.
 */
export async function guessColumn(list: ListFile, { key, headings, judge }: KeyFacts) {
  const rows: TableRow[] = []
  for await (const batch of list.rows()) {
    rows.push(...batch.filter(hasValues).slice(0, guessedRowsMax - rows.length))
    if (rows.length === guessedRowsMax) break
  }
  const isNamed = (cell: string | null) => headings.includes(cell?.trim().toLowerCase() ?? '')
  const isKey = (cell: string | null) => key.check !== undefined && isLike(judge, cell)
  const named = rows.find(({ cells }) => cells.some(isNamed))
  const first = named ? -1 : rows.findIndex(({ cells }) => cells.some(isKey))
  const place = rows[first]?.cells.findIndex(isKey) ?? named?.cells.findIndex(isNamed) ?? 0
  const above = rows.slice(0, first).findLast(({ cells }) => (cells[place] ?? null) !== null)
  const header = named ?? (first === -1 ? rows[0] : above)
  const cells = header?.cells.map((cell) => cell?.trim() ?? '') ?? []
  return { names: [...new Set(cells)].filter((cell) => cell !== ''), guessed: cells[place] ?? '' }
}
