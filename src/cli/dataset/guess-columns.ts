import type { Column } from '../../columns/column.js'
import type { Sample, SampledColumn, RowOrder } from '../../versions/sample.js'

const columnsMax = 24
const keyColumnsMax = 3
const extensionsMax = 8
/** A key column is useless if its values repeat more often than this. */
const repeatsMax = 100
const firstYear = 1900
const lastYear = 2100

/** Names of columns for look-ups, the best first. */
const idNames: readonly RegExp[] = [
  /^(id|inn|ogrn|uuid|guid|isin|lei|cik|vin|sku|ticker|инн|огрн|ид)$/,
  /(^|_)(reg_?number|registry_?number|key|code|id|uuid|guid|iso_?[23]?)$/,
  /(^|_)(inn|ogrn|ogrnip|kpp|okpo|okpd2?|okved2?|oktmo|bik|isbn|number|num|no|код|номер)$/,
]
const yearNames = /(^|_)(year|god|yr|fy|год)(_|$)/
const dateNames = /(^|_)(date|period|day|month|time|timestamp|ts|at|on|дата|период)(_|$)/
/** Dates and years that do not say which period a row belongs to. */
const otherDates = /birth|expir|end|valid|updat|modif|load|delet/

/** The columns that may be a key or the history column. */
export function guessable(columns: readonly Column[]): readonly Column[] {
  return columns
    .filter(({ hidden, rules }) => !hidden && keyTypes.includes(rules.shown))
    .map((column) => ({ column, rank: Math.min(idRank(column), isTemporal(column) ? 1 : 9) }))
    .sort((left, right) => left.rank - right.rank)
    .slice(0, columnsMax)
    .map(({ column }) => column)
}

/** The column in which plans can count years: years, else dates; null if there are neither. */
export function guessHistory({ columns }: Sample): Column | null {
  const filled = columns.filter(({ column, filled: rows }) => rows > 0 && !isOther(column))
  const years = filled.filter(holdsYears)
  const dates = filled.filter(({ column }) => isTemporal(column))
  const found =
    years.find(({ column }) => yearNames.test(wordsOf(column))) ??
    dates.find(({ column }) => dateNames.test(wordsOf(column))) ??
    dates[0] ??
    years[0]
  return found?.column ?? null
}

/**
 * The best columns for look-ups, or an empty list: the column that sorts the files or identifies
 * rows, preferably with the name of an id; then columns that make the key unique.
 */
export async function guessKey(sample: Sample, history: Column | null): Promise<readonly Column[]> {
  const lead = await leadColumn(sample)
  if (!lead) return []
  const others = extensions(sample, lead, history)
  let key: readonly Column[] = [lead]
  let known = await sample.rowOrder(key)
  while (known.distinct < sample.rows && key.length < keyColumnsMax) {
    const next = await extended(sample, key, known, others)
    if (!next) break
    ;[key, known] = next
  }
  return key
}

/** Names of columns that name what a row is about. */
const nameNames: readonly RegExp[] = [
  /^((full|short|legal|company|firm|org|organi[sz]ation)_)?(name|title)$/,
  /^(наименование|название)(_|$)/,
]

/** The one text column that names what a row is about; null where none or several may. */
export function guessName(columns: readonly Column[]): Column | null {
  const named = columns.filter((column) => {
    const isText = !column.hidden && column.rules.shown === 'string'
    return isText && nameNames.some((pattern) => pattern.test(wordsOf(column)))
  })
  return named.length === 1 ? (named[0] ?? null) : null
}

const keyTypes: readonly string[] = ['integer', 'string', 'date', 'timestamp']

interface Candidate {
  readonly column: Column
  readonly score: number
}

async function leadColumn(sample: Sample): Promise<Column | undefined> {
  const candidates: Candidate[] = []
  for (const each of sample.columns) {
    if (each.distinct < 2 && sample.rows > 1) continue
    const score = leadScore(each, sample, await sample.rowOrder([each.column]))
    if (score > 0) candidates.push({ column: each.column, score })
  }
  const best = candidates.sort(
    (left, right) => right.score - left.score || idRank(left.column) - idRank(right.column),
  )
  return best[0]?.column
}

function leadScore(each: SampledColumn, sample: Sample, { falls, rises }: RowOrder): number {
  const isSorted = falls === 0 && rises > 0
  const isWhole = each.filled === sample.rows
  const isUnique = isWhole && each.distinct === sample.rows && !isTemporal(each.column)
  const isId = idRank(each.column) < idNames.length && each.filled > 0
  if (!isSorted && !isUnique && !(isId && each.distinct * repeatsMax >= sample.rows)) return 0
  return (isId ? 4 : 0) + (isSorted ? 3 : 0) + (isUnique ? 2 : 0)
}

function extensions(sample: Sample, lead: Column, history: Column | null): readonly Column[] {
  const rest = sample.columns
    .filter(({ column, distinct }) => column !== lead && column !== history && distinct > 1)
    .map(({ column }) => column)
    .filter((column) => idRank(column) < idNames.length || isTemporal(column))
  return [...(history && history !== lead ? [history] : []), ...rest].slice(0, extensionsMax)
}

/** The key with one more column: one that sorts within the key, else one that makes it unique. */
async function extended(
  sample: Sample,
  key: readonly Column[],
  known: RowOrder,
  others: readonly Column[],
): Promise<readonly [readonly Column[], RowOrder] | null> {
  let unique: readonly [readonly Column[], RowOrder] | null = null
  for (const column of others.filter((each) => !key.includes(each))) {
    const longer = [...key, column]
    const found = await sample.rowOrder(longer)
    const continues = known.ties > 0 && known.falls === 0 && found.falls === 0
    if (continues && found.distinct > known.distinct) return [longer, found]
    if (found.distinct === sample.rows) unique ??= [longer, found]
  }
  return unique
}

function holdsYears({ column, least, most }: SampledColumn): boolean {
  if (column.rules.shown !== 'integer') return false
  return Number(least) >= firstYear && Number(most) <= lastYear
}

function isOther({ name }: Column): boolean {
  return otherDates.test(name.toLowerCase())
}

function isTemporal({ rules }: Column): boolean {
  return rules.shown === 'date' || rules.shown === 'timestamp'
}

function idRank(column: Column): number {
  const words = wordsOf(column)
  const rank = idNames.findIndex((pattern) => pattern.test(words))
  return rank === -1 ? idNames.length : rank
}

/** `customerId` and `Customer ID` as `customer_id`. */
function wordsOf({ name }: Column): string {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
}
