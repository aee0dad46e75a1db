import type { JudgeCell } from '../../../lists/judge-key.js'
import { openList } from '../../../lists/open-list.js'
import type { ListFile } from '../../../lists/open-list.js'
import { hasValues } from '../../../lists/read-keys.js'
import type { TableRow } from '../../../versions/tables/table.js'

/** How the keys of a dataset are told from other cells. */
export interface KeyNames {
  readonly key: string
  /** What headings call it, in small letters. */
  readonly names: readonly string[]
  /** It has check digits: a cell that is no key is seen by its text. */
  readonly isChecked: boolean
  readonly judge: JudgeCell
}

const byteOrderMark = '\ufeff'
const guessedRowsMax = 1000

/**
 * Opens the content of a list; `.txt` is CSV.
 * @throws TableError for a file that can't be read; bad_request for another format
 */
export function openContent(name: string, content: Uint8Array): Promise<ListFile> {
  const file = name.replace(/\.txt$/i, '.csv')
  const recognised = { encoding: null, separator: null, sheet: null }
  return openList({ file, ...recognised }, async function* () {
    yield Promise.resolve(content)
  })
}

/** Opens a pasted column, which gets the name of the key where its first line is no name. */
export function openPasted(text: string, keys: KeyNames): Promise<ListFile> {
  const [first = ''] = text.split(/[\r\n]/, 1)
  const heading = isName(first, keys) || /[\t;,]/.test(first) ? '' : `${keys.key}\n`
  return openContent('list.csv', new TextEncoder().encode(byteOrderMark + heading + text))
}

function isName(text: string, { names, isChecked, judge }: KeyNames): boolean {
  return names.includes(text.trim().toLowerCase()) || (isChecked && !isLikeKey(judge(text)))
}

function isLikeKey(key: ReturnType<JudgeCell>): boolean {
  return key.kind === 'key' || key.withZero !== null
}

/**
 * The names of a list's columns, and the one that has the keys: by its name, or by the first cell
 * that is a key. No names where the list has none above its keys.
 */
export async function guessColumn(list: ListFile, { names, isChecked, judge }: KeyNames) {
  const rows: TableRow[] = []
  for await (const batch of list.rows()) {
    rows.push(...batch.filter(hasValues).slice(0, guessedRowsMax - rows.length))
    if (rows.length === guessedRowsMax) break
  }
  const isNamed = (cell: string | null) => names.includes(cell?.trim().toLowerCase() ?? '')
  const named = rows.find(({ cells }) => cells.some(isNamed))
  const isKey = (cell: string | null) => isChecked && isLikeKey(judge(cell))
  const first = named ? -1 : rows.findIndex(({ cells }) => cells.some(isKey))
  const place = rows[first]?.cells.findIndex(isKey) ?? named?.cells.findIndex(isNamed) ?? 0
  const above = rows.slice(0, first).findLast(({ cells }) => (cells[place] ?? null) !== null)
  const header = named ?? (first === -1 ? rows[0] : above)
  const cells = header?.cells.map((cell) => cell?.trim() ?? '') ?? []
  return { columns: [...new Set(cells)].filter((cell) => cell !== ''), guessed: cells[place] ?? '' }
}
