import { badRequest } from '../../errors.js'
import { insertInto, sql } from '../store/sql.js'
import type { ControlStore } from '../store/store.js'

/** Lists of a subscription. */
const watchListsMax = 20

/** Values of a column that a subscription watches. */
export interface WatchList {
  readonly name: string
  readonly dataset: string
  readonly column: string
  readonly values: readonly string[]
  /** Only changes of these columns count; empty = of all. */
  readonly fields: readonly string[]
}

/** A list without its values. */
export interface WatchListSummary extends Omit<WatchList, 'values'> {
  /** How many values it has. */
  readonly count: number
}

interface WatchRow extends Omit<WatchList, 'values' | 'fields'> {
  readonly values: string
  readonly fields: string
}

/** Stores a list in place of the one of this name. @throws bad_request for one too many */
export async function putWatchList(
  store: ControlStore,
  subscriptionId: string,
  list: WatchList,
): Promise<void> {
  const row = insertInto('watch_lists', {
    subscription_id: subscriptionId,
    name: list.name,
    dataset: list.dataset,
    column_name: list.column,
    value_list: JSON.stringify(list.values),
    value_count: list.values.length,
    fields: JSON.stringify(list.fields),
  })
  await store.write(async (tx) => {
    await tx.run(sql`${row} ON CONFLICT (subscription_id, name) DO UPDATE SET
      dataset = excluded.dataset, column_name = excluded.column_name,
      value_list = excluded.value_list, value_count = excluded.value_count,
      fields = excluded.fields`)
    if ((await watchListNames(tx, subscriptionId)).length <= watchListsMax) return
    throw badRequest(`A subscription has at most ${watchListsMax} watch lists. Delete one first.`)
  })
}

/** The names of a subscription's lists, or of those of one dataset. */
export async function watchListNames(
  store: ControlStore,
  subscriptionId: string,
  dataset?: string,
): Promise<readonly string[]> {
  const isOf = dataset === undefined ? sql`true` : sql`dataset = ${dataset}`
  const rows = await store.all<{ name: string }>(
    sql`SELECT name FROM watch_lists WHERE subscription_id = ${subscriptionId} AND ${isOf}
     ORDER BY name`,
  )
  return rows.map(({ name }) => name)
}

/** The lists of a subscription by name. */
export async function listWatchLists(
  store: ControlStore,
  subscriptionId: string,
): Promise<readonly WatchListSummary[]> {
  const rows = await store.all<Omit<WatchListSummary, 'fields'> & { readonly fields: string }>(
    sql`SELECT name, dataset, column_name AS "column", fields, value_count AS count
     FROM watch_lists WHERE subscription_id = ${subscriptionId} ORDER BY name`,
  )
  // This file wrote the text.
  return rows.map((row) => ({ ...row, fields: JSON.parse(row.fields) as readonly string[] }))
}

/** The list of this name; `undefined` if there is none. */
export async function findWatchList(
  store: ControlStore,
  subscriptionId: string,
  name: string,
): Promise<WatchList | undefined> {
  const [row] = await store.all<WatchRow>(
    sql`SELECT name, dataset, column_name AS "column", value_list AS "values", fields
     FROM watch_lists WHERE subscription_id = ${subscriptionId} AND name = ${name}`,
  )
  return (
    row && {
      ...row,
      values: JSON.parse(row.values) as readonly string[],
      fields: JSON.parse(row.fields) as readonly string[],
    }
  )
}

/** False if there is none. @throws bad_request while a webhook names it */
export async function deleteWatchList(
  store: ControlStore,
  subscriptionId: string,
  name: string,
): Promise<boolean> {
  return await store.write(async (tx) => {
    const [user] = await tx.all<{ id: string }>(
      sql`SELECT id FROM webhooks WHERE subscription_id = ${subscriptionId} AND watch = ${name}`,
    )
    if (user) throw badRequest(`The webhook ${user.id} names this list. Delete the webhook first.`)
    const deleted = await tx.run(
      sql`DELETE FROM watch_lists WHERE subscription_id = ${subscriptionId} AND name = ${name}`,
    )
    return deleted > 0
  })
}
