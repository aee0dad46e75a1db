import { correctable } from '../columns/correction.js'
import type { Access } from '../access/access.js'
import type { Column } from '../columns/column.js'
import { ServiceError, badRequest } from '../errors.js'
import { guessText, nearestNames, quoted } from '../text.js'
import { insteadOf, selectMistake } from './common-mistakes.js'
import type { Asked } from './common-mistakes.js'
import { pageFormats } from './page-format.js'
import type { PageFormat } from './page-format.js'

/** The visible column of a name. */
export function visibleColumn(
  { columns }: Pick<Access, 'columns'>,
  name: string,
): Column | undefined {
  return columns.find((column) => column.name === name)
}

/**
 * Returns the visible column of a name. A hidden column is refused exactly like a column that does
 * not exist.
 * @throws bad_request with the nearest name, or with what takes the place of a parameter that other
 *   services have
 */
export function findColumn(access: Access, name: string, asked: Asked = 'rows'): Column {
  const column = visibleColumn(access, name)
  if (column) return column
  const instead = insteadOf(name, asked)
  if (instead) {
    const { advice, correction } = instead
    throw correctable(`There is no parameter ${quoted(name)}. ${advice}`, correction)
  }
  const { guess, meant, certainty } = meantColumn(access, name)
  throw correctable(
    `There is no column or parameter ${quoted(name)}.${guess} ` +
      `GET /v1/${access.dataset.name}/schema lists the columns.`,
    meant === undefined ? undefined : { kind: 'column', written: name, meant, ...certainty },
  )
}

/**
 * What a name that no column has may mean: the column of that label, or of that name in another
 * spelling, else of a similar name.
 */
export function meantColumn({ columns }: Pick<Access, 'columns'>, name: string) {
  const same = sameColumns(columns, name)
  const isSame = same.length > 0
  const names = (isSame ? same : columns).map((column) => column.name)
  const near = isSame ? names : nearestNames(name, names)
  return {
    guess: guessText(near.slice(0, guessesMax)),
    // Of several columns with that label, any may be meant.
    meant: isSame ? (near.length > 1 ? undefined : near[0]) : nearestNames(name, names, 3)[0],
    certainty: isSame ? ({ isSame: true } as const) : {},
  }
}

/**
 * The columns that are certainly meant, by the first of these that finds some: the name in other
 * letters, `priceRub` for `price_rub`; the whole label; its beginning; a code in the name, as in
 * `Revenue (2110)` and `line_2110`.
 */
function sameColumns(columns: readonly Column[], name: string): readonly Column[] {
  const plain = plainText(name)
  const isSame = (text: string) => plain !== '' && plainText(text) === plain
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? []
  const ways: readonly ((column: Column) => boolean)[] = [
    (column) => column.name.toLowerCase() === name.trim().toLowerCase(),
    (column) => isSame(column.name),
    (column) => labelsOf(column).some(isSame),
    (column) => shortLabelsOf(column).some(isSame),
    ({ name: each }) => /^\d{3,}$/.test(each) && words.some((word) => word === each),
  ]
  return ways.map((way) => columns.filter(way)).find(({ length }) => length > 0) ?? []
}

/** Letters and digits alone, in lower case: `netProfit` and `net_profit` are `Net profit`. */
function plainText(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
}

const guessesMax = 3

function labelsOf({ label, russian }: Column): readonly string[] {
  return [label, russian.label].flatMap((each) => each ?? [])
}

/** `net profit` is enough for `Net profit (loss)`. */
function shortLabelsOf(column: Column): readonly string[] {
  return labelsOf(column).map((each) => each.replace(/ \(.*$/, ''))
}

/**
 * Returns the columns of these names, in this order.
 * @throws bad_request for an unknown or repeated name, and for no name
 */
export function selectColumns(access: Access, names: readonly string[]): readonly Column[] {
  if (names.length === 0) {
    throw badRequest('select names no column. Name at least one, or leave select out.')
  }
  const chosen = new Set<Column>()
  for (const name of names) {
    const mistake = visibleColumn(access, name) ? undefined : selectMistake(name)
    if (mistake) throw mistake
    const column = findColumn(access, name)
    if (chosen.has(column)) throw badRequest(`select names ${quoted(name)} twice. Name it once.`)
    chosen.add(column)
  }
  return [...chosen]
}

/**
 * Returns the limit, or the usual one if the caller named none.
 * @throws bad_request for a limit beyond the maximum: it is never cut silently
 */
export function checkLimit(
  limit: number | null,
  { usual, max }: { readonly usual: number; readonly max: number },
): number {
  if (limit === null) return usual
  if (limit >= 1 && limit <= max) return limit
  throw correctable(`limit must be from 1 to ${max} for this dataset, got ${limit}.`, {
    kind: 'limit',
    meant: limit < 1 ? 1 : max,
  })
}

/**
 * The format of the answer; JSON if none is asked for.
 * @throws not_acceptable for Parquet of a dataset that has no files
 */
export function checkFormat({ version }: Access, format: PageFormat | null): PageFormat {
  if (format !== 'parquet' || !version.table) return format ?? 'json'
  const others = pageFormats.filter((each) => each !== 'parquet')
  throw new ServiceError(
    'not_acceptable',
    `This dataset is not served as Parquet. Use one of ${others.join(', ')}.`,
  )
}
