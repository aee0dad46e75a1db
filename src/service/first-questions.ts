import type { Column } from '../columns/column.js'
import { encodeForUrl, encodeList } from '../query/write-url.js'
import type { DatasetEntry } from '../registry/registry-schema.js'
import type { Registry } from '../registry/registry.js'
import { listOf } from '../registry/registry.js'
import { shellQuoted } from './client-texts.js'

const valuesShown = 3
const rowsShown = 5

/** The server's address for its users: the public address, otherwise host and port. */
export function baseUrl(settings: {
  readonly publicUrl: string | null
  readonly host: string
  readonly port: number
}): string {
  if (settings.publicUrl !== null) return settings.publicUrl
  const everywhere = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[settings.host]
  const host = everywhere ?? (settings.host.includes(':') ? `[${settings.host}]` : settings.host)
  return `http://${host}:${settings.port}`
}

/** A curl command that reads the token from the shell variable TOKEN. */
export function curlWithVariable(url: string): string {
  return `curl -H "Authorization: Bearer $TOKEN" ${shellQuoted(url)}`
}

/** The path and query of a request for the rows with this value. */
export function lookUpPath(dataset: string, column: string, value: string): string {
  return `/v1/${dataset}?${encodeForUrl(column)}=${filterText([value])}&limit=${rowsShown}`
}

/**
 * The path and query of a first request to a dataset: rows of its demo subset with the key columns,
 * and a text and an amount if the columns are known. Without a demo subset, the schema's path,
 * which needs no filter.
 */
export function examplePath(
  registry: Registry,
  dataset: string,
  columns: readonly Column[],
): string {
  const entry = registry.datasets.get(dataset)
  const hidden = hiddenNames(entry)
  const filtered = Object.entries(entry?.demo ?? {}).find(([name]) => !hidden.has(name))
  if (!entry || !filtered) return `/v1/${dataset}/schema`
  const [column, values] = filtered
  const texts = values
    .slice(0, valuesShown)
    .map((_, index) => registry.scalarAt(['datasets', dataset, 'demo', column, index]).text)
  const select = new Set([...listOf(entry.key), column, ...listOf(entry.history)])
  for (const each of exampleColumns(columns, select)) select.add(each.name)
  const names = [...select].filter((name) => !hidden.has(name))
  const filter = `${encodeForUrl(column)}=${filterText(texts)}`
  return `/v1/${dataset}?${filter}&select=${encodeList(names)}&limit=${rowsShown}`
}

/** The names of the hidden columns, which callers must not see. */
function hiddenNames(entry: DatasetEntry | undefined): ReadonlySet<string> {
  const columns = Object.entries(entry?.columns ?? {}).filter(([, { hidden }]) => hidden)
  return new Set(columns.map(([source, { name }]) => name ?? source))
}

/** The first text and the first column in the most common unit, if not shown yet. */
function exampleColumns(columns: readonly Column[], shown: ReadonlySet<string>): readonly Column[] {
  const others = columns.filter((column) => !column.hidden && !shown.has(column.name))
  const text = others.find(({ rules }) => rules.shown === 'string')
  const unit = mostCommonUnit(columns)
  const amount = others.find((column) => unit !== null && column.unit === unit)
  return [text, amount].filter((column) => column !== undefined)
}

/** In tables of accounts, the most common unit is the currency. */
function mostCommonUnit(columns: readonly Column[]): string | null {
  const counts = new Map<string, number>()
  for (const { unit } of columns) if (unit !== null) counts.set(unit, (counts.get(unit) ?? 0) + 1)
  return [...counts].sort(([, left], [, right]) => right - left)[0]?.[0] ?? null
}

function filterText(texts: readonly string[]): string {
  const [first = ''] = texts
  if (texts.length === 1) return `eq.${encodeForUrl(first)}`
  return `in.${encodeList(texts)}`
}
