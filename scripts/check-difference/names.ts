/** Datasets by what a token may know of them; names of one length, so that it tells nothing. */
export const names = {
  granted: 'accounts',
  /** Visitors see it in the portal; the token has no plan for it. */
  ungranted: 'offering',
  /** Only tokens that were sold a plan for it know that it exists. */
  unlisted: 'internal',
  unknown: 'anything',
  /** Also unknown: what two names that can't differ look like. */
  unknownToo: 'whatever',
} as const

const rows = 1000

/** The SELECT whose rows each of the datasets has. */
export const select = `SELECT i AS id, i % 7 AS size FROM range(${rows}) t(i)`

/** The registry's entries; the plan is named `all`. */
export function datasetsWith(plan: Readonly<Record<string, unknown>>) {
  const entry = (title: string, listed: boolean) => ({
    title,
    files: `data/${title}.parquet`,
    key: 'id',
    require_filter: false,
    measures: { rows: { sum: 'size' } },
    listed,
    plans: { all: plan },
  })
  return {
    [names.granted]: entry(names.granted, true),
    [names.ungranted]: entry(names.ungranted, true),
    [names.unlisted]: entry(names.unlisted, false),
  }
}
