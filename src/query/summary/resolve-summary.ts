import { correctable } from '../../columns/correction.js'
import type { Access } from '../../access/access.js'
import type { Column } from '../../columns/column.js'
import { columnsOf } from '../../columns/formula.js'
import { predicateKey } from '../../columns/predicate.js'
import { ServiceError } from '../../errors.js'
import { quoted } from '../../text.js'
import { checkFormat, checkLimit, findColumn } from '../check-parts.js'
import { headingsOf } from '../headings.js'
import { rowFormatOf } from '../page-format.js'
import type { PageFormat } from '../page-format.js'
import { filtersKey, readFilters } from '../read-filters.js'
import type { Filter } from '../read-filters.js'
import type { GroupBy, Measure, Summary } from '../summary.js'
import { groupCells, groupCharge } from './charge.js'
import { groupsLimit } from './raw-summary.js'
import { eachOnce, writtenCall } from './part-column.js'
import type { RawSummary } from './raw-summary.js'
import { readGroups } from './read-groups.js'
import { readMeasures } from './read-measures.js'
import { readHaving, readOrder } from './read-order.js'
import type { Asked } from './read-order.js'
import { labelColumn, resultColumn } from './result-column.js'

/** A summary that is ready to run. */
export interface ResolvedSummary {
  readonly access: Access
  readonly summary: Summary
  readonly format: PageFormat
  readonly headings: readonly string[] | null
  /** The caller's filters, without those that the access adds. */
  readonly filters: readonly Filter[]
  /** The columns of the answer in order, labels included, with types, units and meanings. */
  readonly columns: readonly Column[]
  /** The cells that one group of the answer carries; a quotient counts two. */
  readonly cells: number
  /** The rows that one group of the answer is charged. */
  readonly chargePerGroup: number
  /** Equal for requests with equal answers on the same version and access. */
  readonly key: string
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
  const columns = resultColumns(asked)
  const format = checkFormat(access, raw.format)
  const headings = headingsOf(raw.headings, format, columns)
  const summary: Summary = Object.freeze({
    version: access.version,
    predicates: [...access.predicates, ...filters.flatMap(({ predicates }) => predicates)],
    groups,
    measures,
    having: readHaving(raw.having, asked),
    order: readOrder(raw.order, asked),
    limit: checkLimit(raw.limit, groupsLimit),
    format: rowFormatOf(format),
  })
  const cells = groupCells(summary)
  return {
    access,
    summary,
    format,
    headings,
    filters,
    columns,
    cells,
    chargePerGroup: groupCharge(cells, access.columns.length, tariff),
    key: JSON.stringify([summaryKey(summary, filtersKey(filters), format), headings]),
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
  throw new ServiceError('not_found', `Aggregates are switched off for ${what}. Ask for rows.`)
}

/** Parquet and DuckDB don't distinguish names by case, so names that differ in it are refused. */
function resultColumns({ groups, measures, measureCalls }: Asked): readonly Column[] {
  const labels = (group: GroupBy) => (group.labels ? [labelColumn(group)] : [])
  const columns = [
    ...groups.flatMap((group) => [resultColumn(group), ...labels(group)]),
    ...measures.map(resultColumn),
  ]
  const seen = new Set<string>()
  for (const { name } of columns) {
    if (seen.has(name.toLowerCase())) {
      const texts = measureCalls.map(writtenCall)
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
  return columns
}

function summaryKey(summary: Summary, filterKey: string, format: PageFormat): string {
  const { groups, measures, having, order, limit } = summary
  return JSON.stringify([
    'aggregate',
    filterKey,
    groups.map(({ name, column, by, labels }) => [name, column.name, by, labels?.digest]),
    measures.map(({ name, aggregate }) => [name, aggregateKey(aggregate)]),
    having.map(({ measure, predicate }) => [measure, predicateKey(predicate)].join()).sort(),
    order,
    limit,
    format,
  ])
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
