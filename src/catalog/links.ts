import { columnOperators } from '../columns/column.js'
import type { Column } from '../columns/column.js'
import type { DatasetEntry } from '../registry/registry-schema.js'
import type { Registry } from '../registry/registry.js'
import { didYouMean, quoted } from '../text.js'
import type { Version } from '../versions/version.js'

/** A column of a dataset that holds the key of the entities of the dataset that has the link. */
export interface Link {
  readonly dataset: string
  readonly column: string
}

/** A dataset, as links see it. */
interface Linked {
  readonly links: readonly Link[]
  readonly version: Version | null
}

/** The links of a dataset's entry, in the registry's order. */
export function linksOf({ links = {} }: Pick<DatasetEntry, 'links'>): readonly Link[] {
  return Object.entries(links).flatMap(([dataset, columns]) =>
    Object.keys(columns).map((column) => ({ dataset, column })),
  )
}

/** Those of a dataset's links that join rows now: both columns are there, and can be equal. */
export function joiningLinks(
  { links, version }: Linked,
  datasets: ReadonlyMap<string, Linked>,
): readonly Link[] {
  const key = version?.entity?.key
  if (!key) return []
  return links.filter(({ dataset, column }) => {
    const other = datasets.get(dataset)?.version
    return other && linkMistake(key, dataset, column, other.columns) === null
  })
}

/**
 * Why links of a dataset join no rows, a line each with its place in the registry. Where a dataset
 * has no version, nothing is said: that has a reason of its own.
 */
export function brokenLinks(
  name: string,
  { links, version }: Linked,
  datasets: ReadonlyMap<string, Linked>,
  registry: Registry,
): readonly string[] {
  const key = version?.entity?.key
  return links.flatMap(({ dataset, column }) => {
    const other = datasets.get(dataset)?.version
    const mistake = key && other ? linkMistake(key, dataset, column, other.columns) : null
    const place = registry.locate(['datasets', name, 'links', dataset, column])
    return mistake === null ? [] : [`${place}: ${mistake}`]
  })
}

/** Datasets whose links join no rows have a warning more. */
export function withLinkWarnings<T extends Linked & { readonly warnings: readonly string[] }>(
  datasets: ReadonlyMap<string, T>,
  registry: Registry,
): ReadonlyMap<string, T> {
  return new Map(
    [...datasets].map(([name, dataset]) => {
      const broken = brokenLinks(name, dataset, datasets, registry)
      if (broken.length === 0) return [name, dataset]
      return [name, Object.freeze({ ...dataset, warnings: [...dataset.warnings, ...broken] })]
    }),
  )
}

function linkMistake(
  key: Column,
  dataset: string,
  name: string,
  columns: readonly Column[],
): string | null {
  const column = columns.find((each) => each.name === name)
  if (!column) {
    const shown = columns.filter(({ hidden }) => !hidden).map((each) => each.name)
    return `${dataset} has no column ${quoted(name)}.${didYouMean(name, shown)}`
  }
  if (column.hidden) return `column ${quoted(name)} of ${dataset} is hidden`
  const [own, its] = [key, column].map(kindOf)
  if (own === its && columnOperators(column).includes('eq')) return null
  return (
    `column ${quoted(name)} of ${dataset} (${column.rules.shown}) is never equal to ` +
    `${quoted(key.name)} (${key.rules.shown})`
  )
}

/** Types whose values can be equal have the same kind. */
function kindOf({ rules: { shown } }: Column): string {
  return shown === 'integer' ? 'number' : shown
}
