import { accessibleDatasets, authorize } from '../access/access.js'
import type { Access } from '../access/access.js'
import type { Principal } from '../access/principal.js'
import type { Catalog } from '../catalog.js'
import type { Dataset } from '../catalog/dataset.js'
import type { Column } from '../columns/column.js'
import { timeLimit } from '../engine/deadline.js'
import { groupTariff } from '../query/summary/resolve-summary.js'
import { keyProblem } from '../versions/changes/change-set.js'
import type { Version } from '../versions/version.js'
import { exampleAmount, exampleGroup } from './aggregate-guide.js'
import type { Descriptions } from './descriptions.js'

/** The datasets of the OpenAPI document, for one audience. */
export interface Reference {
  /** Within one catalog, equal keys mean equal references. */
  readonly catalog: Catalog
  readonly key: string
  readonly datasets: readonly ReferenceEntry[]
}

interface ReferenceEntry {
  readonly name: string
  /** Reads the first row that the audience sees; others read nothing. */
  readonly describe: () => Promise<ReferenceDataset>
}

export interface ReferenceDataset extends Pick<
  Dataset,
  'name' | 'title' | 'description' | 'source' | 'requireFilter' | 'limit' | 'firstNames'
> {
  /** False if aggregates are switched off. */
  readonly hasAggregates: boolean
  /** Rows are found by the name of what they are about. */
  readonly hasEntity: boolean
  /** Its key may tell what differs between versions. */
  readonly hasChanges: boolean
  /** Without the hidden columns. */
  readonly columns: readonly Column[]
  /** A good group and a number to add up, for examples; undefined without such columns. */
  readonly example: { readonly group: string | undefined; readonly amount: string | undefined }
  /** Values of the audience's first row by column name, in URL form. */
  readonly sample: ReadonlyMap<string, string>
}

/** A dataset of the reference; without an access, none of its rows is read. */
interface View {
  readonly dataset: Dataset
  readonly version: Version
  readonly access: Access | null
}

/**
 * The datasets of a principal. For null: the datasets with `listed: true`, with values of the
 * public demo subset only.
 */
export function referenceFor(
  principal: Principal | null,
  catalog: Catalog,
  descriptions: Descriptions,
  signal: AbortSignal,
): Reference {
  const views = principal
    ? accessibleDatasets(principal, catalog).map((access) => ({
        dataset: access.dataset,
        version: access.version,
        access,
      }))
    : listedViews(catalog)
  const client = principal?.id ?? 'visitors'
  const sample = ({ dataset, access }: View) =>
    access
      ? descriptions.sample(access, { signal, client, timeLimit: timeLimit(dataset.timeoutMs) })
      : new Map<string, string>()
  const keys = views.map((view) => [
    view.dataset.name,
    view.access?.key ?? null,
    hasAggregates(view),
  ])
  const datasets = views.map((view) => ({
    name: view.dataset.name,
    describe: async () => shown(view, await sample(view)),
  }))
  return { catalog, key: JSON.stringify(keys), datasets }
}

function listedViews(catalog: Catalog): readonly View[] {
  return [...catalog.datasets.values()].flatMap((dataset) => {
    const { listed, version, demo, name } = dataset
    if (!listed || !version) return []
    const access = demo && authorize({ kind: 'demo', id: 'demo' }, catalog, name)
    return [{ dataset, version, access }]
  })
}

function hasAggregates({ dataset, access }: View): boolean {
  return groupTariff({ dataset, plan: access?.plan ?? null }) !== null
}

function shown(view: View, sample: ReferenceDataset['sample']): ReferenceDataset {
  const { dataset, version } = view
  const { name, title, description, source, requireFilter, limit, firstNames } = dataset
  const columns = version.columns.filter((column) => !column.hidden)
  const parts = { columns, version, dataset }
  return {
    name,
    title,
    description,
    source,
    requireFilter,
    limit,
    firstNames,
    hasAggregates: hasAggregates(view),
    hasEntity: version.entity !== null,
    hasChanges: keyProblem(version) === null,
    columns,
    example: { group: exampleGroup(parts)?.text, amount: exampleAmount(parts)?.name },
    sample,
  }
}
