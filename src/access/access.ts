import type { Catalog } from '../catalog.js'
import type { Dataset } from '../catalog/dataset.js'
import type { Column } from '../columns/column.js'
import { latestYears, predicateKey } from '../columns/predicate.js'
import type { Predicate } from '../columns/predicate.js'
import { notFound, unavailable } from '../errors.js'
import type { ServiceError } from '../errors.js'
import type { Plan } from '../registry/registry.js'
import type { Version } from '../versions/version.js'
import type { Principal } from './principal.js'

/** The part of one dataset that a principal may see: decided once, then passed down. */
export interface Access {
  readonly dataset: Dataset
  readonly version: Version
  /** Null for the demo token, which has a subset. */
  readonly plan: Plan | null
  /** The plan's window or the demo subset. */
  readonly predicates: readonly Predicate[]
  /** Excludes hidden columns: for a caller they don't exist. */
  readonly columns: readonly Column[]
  /** Equal for principals who see the same rows. */
  readonly key: string
}

/**
 * Returns the access of a principal to a dataset by name. A missing dataset and a dataset without a
 * grant give the same error, after the same work. `onGrant` is called once a grant is found.
 * @throws not_found; service_unavailable if a granted dataset has no version to serve
 */
export function authorize(
  principal: Principal,
  catalog: Catalog,
  name: string,
  onGrant?: () => void,
): Access {
  const dataset = catalog.datasets.get(name)
  const grant = grantOf(principal, dataset, name)
  if (!dataset || !grant) throw noSuchDataset()
  onGrant?.()
  if (!dataset.version) {
    throw unavailable('This dataset is not available now. Try again in a minute.', 60)
  }
  return accessTo(dataset, dataset.version, grant.plan, dataset.demo)
}

/** One text for a dataset that is missing and for one that this caller may not see. */
export function noSuchDataset(): ServiceError {
  return notFound(
    'There is no dataset of this name for this token. ' +
      'GET /v1/ lists the datasets that this token can read.',
  )
}

/**
 * Returns the same access to an earlier version, on which a walk began, under today's plan, subset
 * and hidden columns. Undefined if that version is no longer kept, or if today's plan or subset
 * can't be applied to it.
 */
export function accessAt(access: Access, versionId: string): Access | undefined {
  const { dataset, version, plan } = access
  if (versionId === version.id) return access
  const found = dataset.earlier.find((each) => each.version.id === versionId)
  if (!found) return undefined
  const isCounted = plan !== null && plan.history !== 'all'
  const isFit = isCounted
    ? found.version.history?.source === version.history?.source
    : plan !== null || found.demo !== null
  return isFit ? accessTo(dataset, found.version, plan, found.demo) : undefined
}

/** Every access that a token can have: the demo and each plan, without duplicates. */
export function possibleAccesses(catalog: Catalog): readonly Access[] {
  return [...catalog.datasets.values()].flatMap((dataset) => {
    const { version } = dataset
    if (!version) return []
    const plans = [...(dataset.demo ? [null] : []), ...dataset.plans.values()]
    const accesses = plans.map((plan) => accessTo(dataset, version, plan, dataset.demo))
    return [...new Map(accesses.map((access) => [access.key, access])).values()]
  })
}

function accessTo(
  dataset: Dataset,
  version: Version,
  plan: Plan | null,
  demo: readonly Predicate[] | null,
): Access {
  const predicates = plan ? planWindow(plan, version) : (demo ?? [])
  return Object.freeze({
    dataset,
    version,
    plan,
    predicates,
    columns: version.columns.filter((column) => !column.hidden),
    key: predicates.map(predicateKey).sort().join(),
  })
}

/** The datasets that a principal has a grant for, served or not, in registry order. */
export function grantedDatasets(
  principal: Principal,
  catalog: Catalog,
): readonly (GrantedPlan & { readonly dataset: Dataset })[] {
  return [...catalog.datasets.values()].flatMap((dataset) => {
    const grant = grantOf(principal, dataset, dataset.name)
    return grant ? [{ dataset, plan: grant.plan }] : []
  })
}

/** The served datasets that a principal may see, in registry order. */
export function accessibleDatasets(principal: Principal, catalog: Catalog): readonly Access[] {
  return grantedDatasets(principal, catalog)
    .filter(({ dataset }) => dataset.version)
    .map(({ dataset }) => authorize(principal, catalog, dataset.name))
}

interface GrantedPlan {
  /** Null for the demo token. */
  readonly plan: Plan | null
}

function grantOf(
  principal: Principal,
  dataset: Dataset | undefined,
  name: string,
): GrantedPlan | undefined {
  if (principal.kind === 'demo') {
    // Without its subset, a served version would be fully visible.
    const isGranted = dataset?.version ? dataset.demo !== null : dataset?.hasDemo
    return isGranted ? { plan: null } : undefined
  }
  const granted = principal.grants.get(name)
  const plan = granted === undefined ? undefined : dataset?.plans.get(granted)
  return plan && { plan }
}

function planWindow(plan: Plan, version: Version): readonly Predicate[] {
  if (plan.history === 'all' || !version.history) return []
  return latestYears(version.history, version.newestHistory, plan.history)
}
