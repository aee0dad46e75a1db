import { correctable } from '../../columns/correction.js'
import type { Access } from '../../access/access.js'
import type { Column } from '../../columns/column.js'
import { columnsOf } from '../../columns/formula.js'
import { predicateKey } from '../../columns/predicate.js'
import { notFound } from '../../errors.js'
import { quoted } from '../../text.js'
import { checkFormat, checkLimit, findColumn } from '../check-parts.js'
import { headingsOf } from '../headings.js'
import { rowFormatOf } from '../page-format.js'
import type { PageFormat } from '../page-format.js'
import { filtersKey, readFilters } from '../read-filters.js'
import type { Resolved } from '../resolved.js'
import type { GroupBy, Measure, ServedValue, Summary } from '../summary.js'
import { groupCells, groupCharge } from './charge.js'
import { pivoted, readPivot } from './pivot.js'
import type { AskedPivot } from './pivot.js'
import { groupsLimit, pivotMax } from './raw-summary.js'
import { eachOnce, writtenCall } from './part-column.js'
import type { RawSummary } from './raw-summary.js'
import { readGroups } from './read-groups.js'
import { readMeasures } from './read-measures.js'
import { readHaving, readOrder } from './read-order.js'
import { resultColumns } from './result-column.js'

/** A summary that is ready to run. */
export interface ResolvedSummary extends Resolved {
  readonly summary: Summary
  /** The columns of the answer in order, labels included, with types, units and meanings. */
  readonly columns: readonly Column[]
  /**
   * The cells that one group of the answer carries; a quotient counts two. Of a pivot, until its
   * values are known, the most that they can be.
   */
  readonly cells: number
  /** The rows that one group of the answer is charged. */
  readonly chargePerGroup: number
  /** What becomes columns once its values are known; null if nothing does. */
  readonly pivot: AskedPivot | null
}

/**
 * Turns the caller's input into a summary within the caller's access. No later stage refuses it.
 * `question` parses it, where aggregates are not switched off. While it reads many filters, other
 * requests run.
 * @throws not_found if aggregates are switched off; bad_request with the nearest right text
 */
export async function resolveSummary(
  access: Access,
  question: () => RawSummary,
): Promise<ResolvedSummary> {
  const tariff = tariffOf(access)
  const raw = question()
  const find = (name: string) => findColumn(access, name, 'aggregate')
  const filters = await readFilters(raw.filters, find)
  const groups = readGroups(access, raw)
  const measures = readMeasures(access, raw)
  const asked = { groups, groupCalls: raw.group, measures, measureCalls: raw.measures }
  const pivot = readPivot(access, raw, asked)
  const columns = resultColumns(asked)
  requireOnce(columns, raw)
  const format = checkFormat(access, raw.format)
  const headings = headingsOf(raw.headings, format, columns)
  const summary: Summary = Object.freeze({
    version: access.version,
    predicates: [...access.predicates, ...filters.flatMap(({ predicates }) => predicates)],
    groups,
    measures,
    having: readHaving(raw.having, asked),
    order: pivot ? largestFirst : readOrder(raw.order, asked),
    limit: checkLimit(raw.limit, groupsLimit),
    format: rowFormatOf(format),
  })
  const cells = groupCells(summary, pivot ? pivotMax : 1)
  const summarized = summaryKey(summary, filtersKey(filters), format)
  return {
    access,
    summary,
    format,
    headings,
    filters,
    columns,
    cells,
    chargePerGroup: groupCharge(cells, access.columns.length, tariff),
    pivot,
    key: JSON.stringify([summarized, headings, pivot && [groupKey(pivot.group), pivot.hasRest]]),
  }
}

/** By the one measure of a pivot. */
const largestFirst: Summary['order'] = [{ by: { measure: 0 }, isDescending: true }]

/** The summary with the columns of its pivot, and what a group costs now. */
export function withPivot(
  resolved: ResolvedSummary,
  values: readonly ServedValue[],
  shown: readonly ServedValue[] | null,
): ResolvedSummary {
  const { access, pivot, format, summary: asked } = resolved
  if (!pivot) throw new TypeError('there is no pivot')
  const summary = pivoted(asked, pivot, values, shown)
  const columns = resultColumns(summary)
  const cells = groupCells(asked, values.length)
  return {
    ...resolved,
    summary,
    columns,
    headings: headingsOf(pivot.headings, format, columns),
    cells,
    chargePerGroup: groupCharge(cells, access.columns.length, tariffOf(access)),
  }
}

/** What a group costs; null if aggregates are switched off for the dataset or the plan. */
export function groupTariff({
  dataset,
  plan,
}: Pick<Access, 'dataset' | 'plan'>): Access['dataset']['aggregates'] {
  return plan?.aggregates === false ? null : dataset.aggregates
}

function tariffOf(access: Access): { readonly rowsPerGroup: number } {
  const tariff = groupTariff(access)
  if (tariff) return tariff
  const { dataset } = access
  const what = dataset.aggregates ? 'this plan' : 'this dataset'
  throw notFound(`Aggregates are switched off for ${what}. Ask for rows.`)
}

/** Parquet and DuckDB don't distinguish names by case, so names that differ in it are refused. */
function requireOnce(columns: readonly Column[], { measures: calls }: RawSummary): void {
  const seen = new Set<string>()
  for (const { name } of columns) {
    if (seen.has(name.toLowerCase())) {
      const texts = calls.map(writtenCall)
      const once = eachOnce(texts)
      const isTwice = once.length < texts.length
      throw correctable(
        `The answer would have two columns ${quoted(name)}. ` +
          (isTwice
            ? 'A measure is named twice: name it once.'
            : 'Rename a measure, for example total:sum(amount).'),
        isTwice ? { kind: 'arguments', meant: { measures: once } } : undefined,
      )
    }
    seen.add(name.toLowerCase())
  }
}

function summaryKey(summary: Summary, filterKey: string, format: PageFormat): string {
  const { groups, measures, having, order, limit } = summary
  return JSON.stringify([
    'aggregate',
    filterKey,
    groups.map(groupKey),
    measures.map(({ name, aggregate }) => [name, aggregateKey(aggregate)]),
    having.map(({ measure, predicate }) => [measure, predicateKey(predicate)].join()).sort(),
    order,
    limit,
    format,
  ])
}

function groupKey({ name, column, by, labels }: GroupBy): unknown {
  return [name, column.name, by, labels?.digest]
}

function aggregateKey({ of, ...aggregate }: Measure['aggregate']): unknown {
  const columns = columnsOf(of).map(({ column, ...at }) => [
    column.name,
    Object.values(at).map(String),
  ])
  const quotient = of && 'dividend' in of ? of : null
  const sides = [quotient?.dividend, quotient?.divisor]
  return [aggregate, columns, sides.map((side) => side && [side.factor, side.terms.length])]
}
