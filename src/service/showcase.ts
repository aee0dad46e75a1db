import type { Catalog } from '../catalog.js'
import type { Dataset } from '../catalog/dataset.js'
import { firstColumns } from '../catalog/first-columns.js'
import { joiningLinks } from '../catalog/links.js'
import type { Link } from '../catalog/links.js'
import type { Language } from '../config.js'
import { priceRub } from '../registry/price.js'
import { planTitle } from '../registry/registry.js'
import type { Plan } from '../registry/registry.js'
import { isoTime } from '../text.js'
import { oldestHistory } from '../versions/version.js'
import type { Entity, Version } from '../versions/version.js'
import type { CodeNames } from '../columns/codes.js'
import { decimalsOf, hasCodes } from '../columns/column.js'
import type { Column } from '../columns/column.js'
import { parseFilterValue } from '../columns/filter-value.js'
import { ServiceError } from '../errors.js'
import { aggregateFacts, codeGuide } from './aggregate-facts.js'
import { describeColumn } from './descriptions.js'
import type { AggregateFacts, ColumnDescription } from './answer-schemas.js'
import { historyText } from '../columns/history-value.js'

/** The public offer: the data behind the portal and the API reference. */
export interface Showcase {
  /** The public demo token; null if the registry has none. */
  readonly demoToken: string | null
  /** Only served datasets with `listed: true`, in registry order. */
  readonly datasets: readonly ShownDataset[]
}

/** A dataset on offer: its registry entry and columns, without row values. */
export interface ShownDataset {
  readonly name: string
  readonly title: string
  readonly description: string | null
  readonly source: string | null
  /** Rows of the whole dataset, including those outside every plan's window. */
  readonly rows: number
  readonly version: string
  /** The date of the data, `2025` or `2025-03-31`; null if it is not known. */
  readonly asOf: string | null
  /** The oldest and the newest value of the history column, in the form of `asOf`, if any. */
  readonly period: { readonly first: string; readonly last: string } | null
  /** When the newest file was written, ISO 8601. */
  readonly updatedAt: string
  /** The visible column in which plans count years, if any. */
  readonly history: string | null
  readonly requireFilter: boolean
  readonly limit: { readonly default: number; readonly max: number }
  readonly columns: readonly ShownColumn[]
  /** Which columns a first question shows. */
  readonly firstColumns: readonly string[]
  /** Null if aggregates are switched off for the dataset. */
  readonly aggregates: AggregateFacts | null
  /** What a row is about, by the names of the columns; null = rows are not found by name. */
  readonly entity: ShownEntityColumns | null
  /** The demo token sees a subset of it. */
  readonly hasDemo: boolean
  readonly plans: readonly ShownPlan[]
}

interface ShownEntityColumns {
  readonly key: string
  readonly name: string | null
  readonly period: string | null
  readonly rank: string | null
  /** Columns of datasets that hold the key. */
  readonly links: readonly Link[]
  /** A key as the column holds it, equal for texts that mean the same; null for no key. */
  readonly keyValue: (text: string) => string | null
  /** The keys of the demo subset, where it is a list of them. */
  readonly demoKeys: readonly string[]
}

/** An entity that was found. */
export interface ShownEntry {
  readonly key: string
  readonly name: string | null
  readonly period: string | null
  readonly matched: string
}

export interface ShownColumn extends ColumnDescription {
  /** Part of the dataset's key. */
  readonly isKey: boolean
  /** A number that can be added up or drawn; codes and years are not. */
  readonly isQuantity: boolean
  /** How many digits an exact value has after the point; null for floating-point numbers. */
  readonly decimals: number | null
  /** What its codes mean; null for a column without codes. */
  readonly codeNames: CodeNames['names'] | null
}

export interface ShownPlan {
  readonly name: string
  /** Its name without one. */
  readonly title: string
  readonly rowsPerMonth: number
  readonly history: number | 'all'
  /** Whole roubles. */
  readonly monthRub: number
  readonly yearRub: number
  readonly ratePerMinute: number
}

/**
 * The listed datasets of this catalog, with the texts of this language where the registry has them;
 * reads neither files nor engine.
 */
export function showcaseOf({ datasets, demo }: Catalog, language: Language): Showcase {
  return {
    demoToken: demo?.token ?? null,
    datasets: [...datasets.values()].flatMap((dataset) =>
      dataset.listed && dataset.version
        ? [shown(dataset, dataset.version, language, joiningLinks(dataset, datasets))]
        : [],
    ),
  }
}

function shown(
  dataset: Dataset,
  version: Version,
  language: Language,
  links: readonly Link[],
): ShownDataset {
  const { name, requireFilter, limit, demo, plans } = dataset
  const { title, description, source } = inLanguage(language, dataset)
  const columns = version.columns.filter((column) => !column.hidden)
  const measures = dataset.measures.map((measure) => inLanguage(language, measure))
  const hasUnits = columns.some(({ unit }) => unit !== null)
  const period = periodOf(version)
  const aggregates = aggregateFacts({
    dataset: { ...dataset, measures },
    plan: null,
    columns,
    version,
  })
  return {
    name,
    title,
    description,
    source,
    rows: version.rows,
    version: version.id,
    asOf: dataset.asOf ?? period?.last ?? null,
    period,
    updatedAt: isoTime(version.modifiedMs),
    history: columns.find((column) => column === version.history)?.name ?? null,
    requireFilter,
    limit,
    columns: columns.map((column) => ({
      ...describeColumn(inLanguage(language, column)),
      ...(aggregates && codeGuide(column, language)),
      isKey: version.key.includes(column),
      isQuantity: isQuantity(column, version, hasUnits),
      decimals: decimalsOf(column),
      codeNames: column.labels?.[language === 'ru' ? 'russian' : 'plain'].names ?? null,
    })),
    firstColumns: firstColumns(dataset.firstNames, columns, (each) =>
      columns.some((column) => column.name === each),
    ),
    aggregates,
    entity: version.entity && {
      key: version.entity.key.name,
      name: version.entity.name?.name ?? null,
      period: version.entity.period?.name ?? null,
      rank: version.entity.rank?.name ?? null,
      links,
      keyValue: keyValueOf(version.entity),
      demoKeys: demoKeys(version.entity),
    },
    hasDemo: demo !== null,
    plans: [...plans.values()].map((plan) => shownPlan(plan, language)),
  }
}

function shownPlan(plan: Plan, language: Language): ShownPlan {
  return {
    name: plan.name,
    title: planTitle(language, plan),
    rowsPerMonth: plan.rowsPerMonth,
    history: plan.history,
    monthRub: plan.priceRub,
    yearRub: priceRub([plan], 12),
    ratePerMinute: plan.ratePerMinute,
  }
}

function keyValueOf({ key }: Entity): ShownEntityColumns['keyValue'] {
  return (text) => {
    try {
      const filter = parseFilterValue(key, text)
      return filter.kind === 'exact' ? String(filter.value) : null
    } catch (cause) {
      if (cause instanceof ServiceError) return null
      throw cause
    }
  }
}

function demoKeys({ key, demo }: Entity): readonly string[] {
  const ofKey = (demo ?? []).filter((each) => 'column' in each && each.column === key)
  return ofKey.flatMap((each) =>
    'values' in each ? each.values.map(String) : 'value' in each ? [String(each.value)] : [],
  )
}

const codeUnit = 'code'

/**
 * A number that counts or measures something. Where the owner gives units, a number without one is
 * an identifier.
 */
function isQuantity(column: Column, { key, history }: Version, hasUnits: boolean): boolean {
  const { rules, unit } = column
  const isNumber = rules.shown === 'integer' || rules.shown === 'number'
  const isCode = hasCodes(column) || unit === codeUnit
  if (!isNumber || isCode || key.includes(column) || column === history) return false
  return unit !== null || !hasUnits
}

function periodOf(version: Version): ShownDataset['period'] {
  const { history, newestHistory } = version
  if (!history || history.hidden || newestHistory === undefined) return null
  const last = historyText(history, newestHistory)
  if (last === null) return null
  return { first: historyText(history, oldestHistory(version, history)) ?? last, last }
}

/** The same with Russian texts in place of English ones, where there are any. */
export function inLanguage<Texts extends { readonly russian: object }>(
  language: Language,
  english: Texts,
): Texts {
  if (language === 'en') return english
  const texts = Object.entries(english.russian).filter(([, text]) => text !== null)
  return { ...english, ...Object.fromEntries(texts) }
}
