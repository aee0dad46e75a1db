import { correctable } from '../columns/correction.js'
import type { Access } from '../access/access.js'
import { isOrdered } from '../columns/functions.js'
import { badRequest } from '../errors.js'
import { quoted } from '../text.js'
import { checkFormat, checkLimit, findColumn, selectColumns, visibleColumn } from './check-parts.js'
import { headingsOf } from './headings.js'
import { rowFormatOf } from './page-format.js'
import { filtersKey, readFilters } from './read-filters.js'
import type { Resolved } from './resolved.js'
import { findPartColumn, meantDirection, partError, writtenCall } from './summary/part-column.js'
import type { Top } from './top.js'
import type { RawTop } from './parse-top.js'

/** A top that is ready to run. Its answer is charged row by row. */
export interface ResolvedTop extends Resolved {
  readonly top: Top
}

/**
 * Turns the caller's input into a top within the caller's access. No later stage refuses it.
 * `usualLimit` applies without a limit. While it reads many filters, other requests run.
 * @throws bad_request naming the column, its type, what it takes and the nearest right name
 */
export async function resolveTop(
  access: Access,
  raw: RawTop,
  usualLimit = access.dataset.limit.default,
): Promise<ResolvedTop> {
  const find = (name: string) => findColumn(access, name, 'top')
  const filters = await readFilters(raw.filters, find)
  const { call, isDescending } = raw.by
  const directed = visibleColumn(access, call.name) ? undefined : meantDirection(call)
  if (directed !== undefined) {
    const detail = `by: write ${quoted(writtenCall(call))} as ${directed}`
    throw correctable(detail, { kind: 'arguments', meant: { by: directed } })
  }
  if (call.operands !== null || call.alias !== null) {
    const detail = `by takes a column, got ${quoted(call.text)}. For groups, use aggregate.`
    throw partError(detail, 'by', call, call.operands?.[0]?.[0]?.name ?? call.name)
  }
  const by = findPartColumn(access, call.name, 'by', call)
  if (!isOrdered(by)) {
    throw badRequest(`by: ${quoted(by.name)} (${by.rules.shown}) has no order.`)
  }
  const columns = raw.select === null ? access.columns : selectColumns(access, raw.select)
  const { max } = access.dataset.limit
  const limit = checkLimit(raw.limit, { usual: Math.min(usualLimit, max), max })
  const format = checkFormat(access, raw.format)
  const headings = headingsOf(raw.headings, format, columns)
  const predicates = [
    ...access.predicates,
    ...filters.flatMap((filter) => filter.predicates),
    { kind: 'not_null', column: by } as const,
  ]
  const names = columns.map(({ name }) => name)
  return {
    access,
    top: Object.freeze({
      version: access.version,
      predicates,
      by,
      isDescending,
      columns,
      limit,
      format: rowFormatOf(format),
    }),
    format,
    headings,
    filters,
    key: JSON.stringify([
      ...['top', filtersKey(filters), by.name, isDescending, names, limit, format],
      headings,
    ]),
  }
}
