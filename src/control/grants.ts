import { badRequest } from '../errors.js'
import { insertInto, sql } from './store/sql.js'
import type { ControlStore } from './store/store.js'

const grantsMax = 1000

/** What a subscription may read: a dataset under one of that dataset's plans. */
export interface Grant {
  readonly dataset: string
  readonly plan: string
}

/** The columns of a LEFT JOIN with `grants`: both null where a subscription has none. */
export interface GrantColumns {
  readonly dataset: string | null
  readonly plan: string | null
}

/**
 * Checks that a subscription can hold these grants: 1 to 1000, each dataset at most once. The
 * catalog knows whether dataset and plan exist.
 *
 * @throws bad_request naming the dataset that is repeated, or what is missing.
 */
export function checkGrants(grants: readonly Grant[]): void {
  if (grants.length === 0) throw badRequest('Name at least one dataset with its plan.')
  if (grants.length > grantsMax) throw badRequest(`Name at most ${grantsMax} datasets.`)
  const seen = new Set<string>()
  for (const { dataset } of grants) {
    if (seen.has(dataset)) throw badRequest(`Name the dataset '${dataset}' only once.`)
    seen.add(dataset)
  }
}

/** Stores checked grants of a subscription without grants, in the caller's transaction. */
export async function insertGrants(
  store: ControlStore,
  subscriptionId: string,
  grants: readonly Grant[],
): Promise<void> {
  for (const { dataset, plan } of grants) {
    await store.run(insertInto('grants', { subscriptionId, dataset, plan }))
  }
}

/** The frozen grants in the rows of a join, in the rows' order. */
export function grantsIn(rows: readonly GrantColumns[]): readonly Grant[] {
  return Object.freeze(
    rows.flatMap(({ dataset, plan }) =>
      dataset === null || plan === null ? [] : [Object.freeze({ dataset, plan })],
    ),
  )
}

/** What the rows of one record say that is joined to its grants; undefined without a row. */
export function withGrants<Row extends GrantColumns>(
  rows: readonly Row[],
): Readonly<Omit<Row, keyof GrantColumns> & { grants: readonly Grant[] }> | undefined {
  const [first] = rows
  if (first === undefined) return undefined
  const { dataset, plan, ...record } = first
  return Object.freeze({ ...record, grants: grantsIn(rows) })
}

/** Grants as the options of commands write them: `financials:pro`. */
export function grantTexts(grants: readonly Grant[]): readonly string[] {
  return grants.map(({ dataset, plan }) => `${dataset}:${plan}`)
}

/** The grants of such texts. */
export function grantsOfTexts(texts: readonly string[]): readonly Grant[] {
  return texts.map((text) => {
    const [dataset = '', plan = ''] = text.split(':', 2)
    return { dataset, plan }
  })
}

/** The grants of all subscriptions that are live now; readable in the schema of older releases. */
export function liveGrants(store: ControlStore, now: number): Promise<readonly Grant[]> {
  return store.all<Grant>(
    sql`SELECT dataset, plan FROM grants JOIN subscriptions ON id = subscription_id
     WHERE cancelled_at IS NULL AND expires_at > ${now}`,
  )
}
