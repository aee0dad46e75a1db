import type { Language } from '../config.js'
import { ServiceError } from '../errors.js'
import { plainText } from '../plain-text.js'
import { parseUrl } from '../query/parse-url.js'
import { encodeForUrl } from '../query/write-url.js'
import { textsOf } from '../row-texts.js'
import type { Service } from '../service.js'
import type { Caller } from './caller.js'
import type { ShownDataset, ShownEntity, ShownEntry } from './showcase.js'

/**
 * The rows of one entity, newest period first; null if the caller sees none, or the dataset has no
 * entity. They are charged as a page.
 */
export async function readEntity(
  service: Pick<Service, 'readPage'>,
  caller: Caller,
  { name, entity, limit }: ShownDataset,
  key: string,
  language: Language,
): Promise<ShownEntity | null> {
  if (!entity) return null
  const query = `${encodeForUrl(entity.key)}=eq.${encodeForUrl(key)}&limit=${limit.max}&format=json`
  const page = await service
    .readPage(caller, { dataset: name, question: () => parseUrl(query) })
    .catch((cause: unknown) => {
      // A key that the column can't hold is unknown.
      if (cause instanceof ServiceError && cause.code === 'bad_request') return null
      throw cause
    })
  if (page?.kind !== 'page' || page.rows.length === 0) return null
  const rows = page.rows.map((row) => {
    const { names, cells } = textsOf(String(row))
    return new Map(names.map((each, index) => [String(JSON.parse(each)), cells[index] ?? 'null']))
  })
  const place = (row: ReadonlyMap<string, string>) => row.get(entity.period ?? '') ?? ''
  rows.sort((a, b) => place(b).localeCompare(place(a), 'en', { numeric: true }))
  const [newest] = rows
  const codes = new Map<string, string>()
  for (const { name: column, labels } of page.columns) {
    const text = newest?.get(column) ?? 'null'
    const code = text.startsWith('"') ? String(JSON.parse(text)) : text
    const { names } = labels?.[language === 'ru' ? 'russian' : 'plain'] ?? {}
    const meaning = names?.get(code)
    if (meaning !== undefined) codes.set(column, meaning)
  }
  return { key, rows, codes, isCut: page.hasMore }
}

/** Entities by key or name, for people. */
export async function findEntries(
  service: Pick<Service, 'find'>,
  caller: Caller,
  dataset: string,
  q: string,
): Promise<readonly ShownEntry[]> {
  const { entries } = await service.find(caller, dataset, { q, limit: shownMax, explain: false })
  return entries.map((entry) => {
    const { names, cells } = textsOf(entry)
    const text = (name: string) => {
      const cell = cells[names.indexOf(JSON.stringify(name))] ?? 'null'
      if (cell === 'null') return null
      return cell.startsWith('"') ? String(JSON.parse(cell)) : cell
    }
    const [key, matched] = [text('key') ?? '', text('matched') ?? '']
    const name = text('name')
    return { key, name: name && plainText(name), period: text('period'), matched }
  })
}

const shownMax = 20
