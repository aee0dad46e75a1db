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

/** What a name that no column has may mean: the column of that label, else a similar name. */
export function meantColumn({ columns }: Pick<Access, 'columns'>, name: string) {
  const wanted = name.trim().toLowerCase()
  const isName = columns.some((column) => column.name.toLowerCase() === wanted)
  // A whole label says more than the beginning of a longer one.
  const [labelled = []] = isName
    ? []
    : [labelsOf, shortLabelsOf]
        .map((textsOf) => columns.filter((each) => textsOf(each).includes(wanted)))
        .filter(({ length }) => length > 0)
  const isLabel = labelled.length > 0
  const names = (isLabel ? labelled : columns).map((column) => column.name)
  const near = isLabel ? names : nearestNames(name, names)
  return {
    guess: guessText(near.slice(0, guessesMax)),
    // Of several columns with that label, any may be meant.
    meant: isLabel && near.length > 1 ? undefined : near[0],
    certainty: isLabel ? ({ isSame: true } as const) : {},
  }
}

const guessesMax = 3

function labelsOf({ label, russian }: Column): readonly string[] {
  return [label, russian.label].flatMap((each) => (each === null ? [] : [each.toLowerCase()]))
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
