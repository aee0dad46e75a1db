/** Plans of a dataset that no test buys much of. */
const smallPlans = '{p: {rows_per_month: 10, history: all, price_rub: 0, rate_per_minute: 1000}}'

/** A dataset with a demo subset, a listed one, and one that only its subscribers may know of. */
export const audienceRegistry = `
demo: {token: das_demo_audience, rate_per_minute: 1000}
datasets:
  open:
    title: Open title
    description: Open words
    files: data/open.parquet
    key: id
    listed: true
    columns: {concealed_column: {hidden: true}}
    demo: {id: [shown1]}
    plans: ${smallPlans}
  plain:
    title: Plain title
    files: data/plain.parquet
    key: id
    listed: true
    plans: ${smallPlans}
  closed:
    title: Closed title
    description: Closed words
    source: Closed source
    files: data/closed.parquet
    key: closed_key
    plans: ${smallPlans}
`

/** The files of `audienceRegistry`. */
export const audienceFiles = {
  'data/open.parquet': `SELECT * FROM (VALUES ('paid0', 1, 'x'), ('shown1', 2, 'y'))
    v(id, open_column, concealed_column)`,
  'data/plain.parquet': "SELECT 'unshown' AS id, 1 AS by",
  'data/closed.parquet': "SELECT 'closed0' AS closed_key, 1 AS closed_column",
}
