import { correctable } from '../columns/correction.js'
import type { FilterText } from '../columns/correction.js'
import { setImmediate } from 'node:timers/promises'
import { accessAt } from '../access/access.js'
import type { Access } from '../access/access.js'
import { columnOperators } from '../columns/column.js'
import { checkFormat, checkLimit, findColumn, selectColumns } from './check-parts.js'
import { badCursor, cursorVersion, readCursor, writeCursor } from './cursor.js'
import type { CursorScope } from './cursor.js'
import { headingsOf } from './headings.js'
import { rowFormatOf } from './page-format.js'
import type { Position, Question } from './question.js'
import { isLong } from './raw-question.js'
import type { RawQuestion } from './raw-question.js'
import { filtersKey, readFilters } from './read-filters.js'
import type { ReadFilter } from './read-filters.js'
import type { Resolved } from './resolved.js'

/** A question that is ready to run, and its cursors. */
export interface ResolvedQuestion extends Resolved {
  readonly question: Question
  readonly cursorAfter: (position: Position) => string
}

/**
 * Turns the caller's input into a question within the caller's access. A cursor selects the version
 * on which the walk began. No later stage refuses the question. `usualLimit` applies to a question
 * without a limit. While it reads a long question, other requests run.
 * @throws bad_request naming the column, its type, what it takes and the nearest right name
 */
export async function resolveQuestion(
  newest: Access,
  principal: string,
  cursorKey: Uint8Array,
  raw: RawQuestion,
  usualLimit = newest.dataset.limit.default,
): Promise<ResolvedQuestion> {
  const access = accessOf(newest, raw.cursor)
  const isInTurns = isLong(raw.filters)
  if (isInTurns) await setImmediate()
  const filters = await readFilters(raw.filters, (name) => findColumn(access, name))
  const asked = askedOf(access, principal, cursorKey, { ...raw, filters }, usualLimit)
  if (isInTurns) await setImmediate()
  return asked
}

/** A question with resolved filters. */
interface ReadQuestion extends Omit<RawQuestion, 'filters'> {
  readonly filters: readonly ReadFilter[]
}

function askedOf(
  access: Access,
  principal: string,
  cursorKey: Uint8Array,
  { filters, ...raw }: ReadQuestion,
  usualLimit: number,
): ResolvedQuestion {
  const columns = raw.select === null ? access.columns : selectColumns(access, raw.select)
  const { max } = access.dataset.limit
  const limit = checkLimit(raw.limit, { usual: Math.min(usualLimit, max), max })
  const filterKey = filtersKey(filters)
  const scope: CursorScope = {
    dataset: access.dataset.name,
    version: access.version.id,
    principal,
    filters: filterKey,
  }
  const asked = filters.flatMap(({ predicates }) => predicates)
  const predicates = [...access.predicates, ...asked]
  const after = raw.cursor === null ? null : readCursor(cursorKey, scope, raw.cursor)
  const isBeyond = after && 'file' in after && after.file >= access.version.files.length
  if (isBeyond) throw badCursor()
  if (after === null && filters.length === 0) requireSomeFilter(access)
  const format = checkFormat(access, raw.format)
  const headings = headingsOf(raw.headings, format, columns)
  return {
    access,
    filters,
    format,
    headings,
    question: Object.freeze({
      version: access.version,
      predicates,
      columns,
      after,
      limit,
      format: rowFormatOf(format),
    }),
    cursorAfter: (position) => writeCursor(cursorKey, scope, position),
    key: JSON.stringify([
      ...[filterKey, columns.map(({ name }) => name), limit, raw.cursor, format],
      headings,
    ]),
  }
}

/** A cursor of a version that is no longer kept is refused like any invalid cursor. */
export function accessOf(newest: Access, cursor: string | null): Access {
  const version = cursor === null ? null : cursorVersion(cursor)
  return (version === null ? undefined : accessAt(newest, version)) ?? newest
}

/** Prevents an accidental scan of a large dataset (specification 4.3). */
function requireSomeFilter(access: Access): void {
  if (!access.dataset.requireFilter) return
  const hint = filterHint(access)
  const example = hint ? `, for example ${hint.column}=${hint.op}.${hint.value}` : ''
  throw correctable(
    `This dataset needs at least one filter. Add one to the first request${example}.`,
    hint && { kind: 'add-filter', filter: hint },
  )
}

/** A filter that reads few rows: on the history column, otherwise on the first key column. */
function filterHint({ version, columns, plan }: Access): Required<FilterText> | undefined {
  const { history, key } = version
  // A plan's window always reaches the newest value; a demo subset may not.
  const newestHistory = plan === null ? undefined : version.newestHistory
  const column = [history, ...key, ...columns].find(
    (each) => each && !each.hidden && columnOperators(each).includes('eq'),
  )
  if (!column) return undefined
  const { shown, example } = column.rules
  const isYear = column === history && shown === 'integer'
  const text = isYear && newestHistory !== undefined ? String(newestHistory) : example
  const op = shown === 'date' || shown === 'timestamp' ? 'gte' : 'eq'
  return { column: column.name, op, value: shown === 'integer' ? Number(text) : text }
}
