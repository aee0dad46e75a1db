import { firstColumns, firstNamesOf } from '../catalog/first-columns.js'
import type { Column } from '../columns/column.js'
import { encodeForUrl, encodeList } from '../query/write-url.js'
import type { DatasetEntry } from '../registry/registry-schema.js'
import type { Registry } from '../registry/registry.js'
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
 * The path and query of a first request to a dataset: rows of its demo subset with the first
 * columns. Without a demo subset, the schema's path, which needs no filter.
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
  const isShown = (name: string) => !hidden.has(name)
  const names = firstColumns(firstNamesOf(entry), columns, isShown)
  const select = names.length === 0 ? '' : `&select=${encodeList(names)}`
  const filter = `${encodeForUrl(column)}=${filterText(texts)}`
  return `/v1/${dataset}?${filter}${select}&limit=${rowsShown}`
}

/** The names of the hidden columns, which callers must not see. */
function hiddenNames(entry: DatasetEntry | undefined): ReadonlySet<string> {
  const columns = Object.entries(entry?.columns ?? {}).filter(([, { hidden }]) => hidden)
  return new Set(columns.map(([source, { name }]) => name ?? source))
}

function filterText(texts: readonly string[]): string {
  const [first = ''] = texts
  if (texts.length === 1) return `eq.${encodeForUrl(first)}`
  return `in.${encodeList(texts)}`
}
