import type { Test } from 'tap'
import { startWorld } from './world.js'
import type { World, WorldOptions } from './world.js'

/** A world over six million rows, and a question that keeps one place of its engine busy. */
export function startSlow(
  t: Test,
  timeoutSeconds: number,
  slots = '1',
  settings: NonNullable<WorldOptions['settings']> = {},
): Promise<World> {
  return startWorld(t, {
    files: {
      'data/slow.parquet': `SELECT (hash(i) % 1000)::INT AS id, 'n' || i % 100 AS name
        FROM range(6_000_000) t(i)`,
    },
    registry: `
datasets:
  slow:
    title: Slow
    files: data/slow.parquet
    require_filter: false
    timeout_seconds: ${timeoutSeconds}
    plans: {pro: {rows_per_month: 1000, history: all, price_rub: 0, rate_per_minute: 100000}}
`,
    settings: { querySlots: slots, ...settings },
  })
}

/** Half a second of work or more for one place; it matches nothing. */
export const slowQuestion = {
  filters: [
    ...Array.from({ length: 49 }, (_, list) => ({
      column: 'name',
      op: 'not_in',
      value: Array.from({ length: 20 }, (_, value) => `x${list}-${value}`),
    })),
    { column: 'id', op: 'eq', value: 1000 },
  ],
}
