import type { Access } from '../access/access.js'
import type { QuotaStatus } from '../access/allowance.js'
import type { Subscriber } from '../access/principal.js'
import type { Catalog } from '../catalog.js'
import { didYouMean, quoted } from '../text.js'
import type { Observation, ObservedCharge, ResolvedRequest } from './caller.js'
import type { EmptyReason } from './empty-answer.js'

const valuesShown = 3

/** Why a subscriber can't read a dataset: the reason that the public 404 hides. */
export function refusalText(principal: Subscriber, catalog: Catalog, name: string): string {
  const dataset = catalog.datasets.get(name)
  const granted = principal.grants.get(name)
  if (!dataset) {
    const nearest = didYouMean(name, catalog.datasets.keys())
    return `the registry has no dataset ${quoted(name)}.${nearest}`
  }
  if (granted === undefined) {
    return `the subscription has no grant for it; it has ${grantsText(principal)}`
  }
  if (!dataset.plans.has(granted)) {
    const plan = quoted(granted)
    return `its plan ${plan} is not in the registry: change it with das subscription change`
  }
  return `the dataset can't be served: ${dataset.reason ?? 'it has no version'}`
}

function grantsText({ grants }: Subscriber): string {
  return [...grants].map(([dataset, plan]) => `${dataset}:${plan}`).join(' ')
}

/** The visible part of a dataset. */
export function accessText({ dataset, version, plan }: Access): string {
  const rows = `${dataset.name} as its files are now, version ${version.id}, ${version.rows} rows`
  if (!plan) return rows
  return `${rows}; plan ${plan.name} sees ${windowText(plan.history, version)}`
}

function windowText(
  history: number | 'all',
  { history: column, newestHistory }: Access['version'],
) {
  if (history === 'all' || !column) return 'all of them'
  const years = history === 1 ? 'the latest year' : `the latest ${history} years`
  if (column.rules.shown !== 'integer' || newestHistory === undefined) {
    return `${years} of ${column.name}`
  }
  const first = newestHistory - BigInt(history) + 1n
  return `${years}, ${column.name} from ${first} to ${newestHistory}`
}

/** The resolved question. */
export function questionText(resolved: ResolvedRequest): string {
  const asked = resolved.filters.map(({ column, operator, texts }) =>
    [column.name, operator, listText(texts)].filter((word) => word !== '').join(' '),
  )
  const where = asked.length === 0 ? 'no filter' : asked.join(', ')
  return [where, ...partsText(resolved)].join('; ')
}

function partsText(resolved: ResolvedRequest): readonly string[] {
  if ('summary' in resolved) {
    const { groups, measures, having, limit } = resolved.summary
    const names = (parts: readonly { readonly name: string }[]) =>
      parts.map(({ name }) => name).join(', ')
    const conditions = having.length === 0 ? [] : [`${having.length} in having`]
    const { pivot } = resolved
    const columns = pivot === null ? [] : [`columns ${pivot.group.name}`]
    const by = groups.length === 0 ? 'no group' : `groups ${names(groups)}`
    return [by, `measures ${names(measures)}`, ...columns, ...conditions, `limit ${limit}`]
  }
  if ('top' in resolved) {
    const { columns, by, isDescending, limit } = resolved.top
    const first = `${isDescending ? 'largest' : 'smallest'} ${by.name} first`
    return [countText(columns.length, 'column'), `limit ${limit}`, first]
  }
  const { columns, limit, after } = resolved.question
  const start = `from ${after ? 'a cursor on' : 'the first row'}`
  return [countText(columns.length, 'column'), `limit ${limit}`, start]
}

function countText(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`
}

function listText(texts: readonly string[]): string {
  const shown = texts.slice(0, valuesShown).map((text) => quoted(text))
  const more = texts.length - shown.length
  return more > 0 ? `${shown.join(' ')} and ${more} more` : shown.join(' ')
}

/** The rest of the quota that ends first. */
export function quotaText(quota: QuotaStatus | undefined): string {
  if (!quota) return 'no rows are counted'
  const { remaining, limit, scope } = quota
  const what = scope === 'global' ? 'over all datasets' : 'of this dataset'
  return `${remaining} of ${limit} rows ${what} are left this month`
}

/** The engine's rows or groups. */
export function readText(found: Extract<Observation, { readonly kind: 'read' | 'summarized' }>) {
  const rows = countText(found.rows, 'row')
  if (found.kind === 'summarized') return `${rows} in ${countText(found.groups, 'group')}`
  return `${rows}, ${found.hasMore ? 'and more follow' : 'the last ones'}`
}

/** Why a page is empty: `beyond` rows lie outside the plan's window; null if unknown. */
export function emptyText(beyond: number | null, reason: EmptyReason | null): string {
  const window =
    beyond === null
      ? "too many rows to count outside the plan's window"
      : beyond === 0
        ? 'no row of the dataset meets the filters, in any plan'
        : `rows that meet the filters: ${beyond}, all of them outside the plan's window`
  if (!reason) return `no row; ${window}`
  const price = reason.isPaid ? ', for one row' : ''
  return `no row; ${window}. An agent reads${price}: ${reason.text}`
}

/** The charge for the page. */
export function chargeText({ rows, paid, quota }: ObservedCharge): string {
  if (rows === 0) return 'an empty answer costs nothing'
  const left = quota ? `; ${quota.remaining} would be left` : ''
  const cut = paid < rows ? ', the page cut to what is left' : ''
  return `${paid} would be charged${cut}${left}`
}
