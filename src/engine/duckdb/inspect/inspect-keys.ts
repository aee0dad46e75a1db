import type { InspectedKey } from '../../../versions/inspector.js'
import type { Version } from '../../../versions/version.js'
import { chooseFiles } from '../choice.js'
import { servedText } from '../../sql/encode.js'
import { duckdb } from '../dialect.js'
import { selectRows } from '../read/compile.js'
import { SqlParameters } from '../read/condition.js'
import { planCount } from '../read/pieces.js'
import type { RunStatement } from '../run-statement.js'

/** Files that share a bit are taken for one. */
const fileBits = 60

/**
 * Counts rows that share a whole key and rows that lack a part of it; null without a key, or if its
 * values can't be compared.
 */
export async function countKeys(version: Version, run: RunStatement): Promise<InspectedKey | null> {
  const { key } = version
  if (key.length === 0 || key.some(({ rules }) => rules.domain.kind === 'opaque')) return null
  const parameters = new SqlParameters()
  const names = key.map((_, index) => `c${index}`)
  const scans = planCount(chooseFiles(version, []))
  const rows = scans.map((scan, place) =>
    selectRows(scan, [], parameters, (sqlOf) => {
      const cells = key.map((column, index) => `${sqlOf(column)} AS ${names[index]}`)
      return [...cells, `1::UBIGINT << ((file_index + ${place}) % ${fileBits}) AS file`].join(', ')
    }),
  )
  const none = { sharingRows: 0, betweenFilesRows: 0, example: null, emptyRows: key.map(() => 0) }
  if (scans.length === 0) return none
  const texts = key.map(({ type }, index) => servedText(duckdb, type, `c${index}`)).join(', ')
  const isTwin = `rows > 1 AND ${names.map((name) => `${name} IS NOT NULL`).join(' AND ')}`
  // If several keys have as many rows, the last one in text order, so that every call agrees.
  const sql = `SELECT coalesce(sum(CASE WHEN ${isTwin} THEN rows END), 0),
      coalesce(sum(CASE WHEN ${isTwin} AND rows = bit_count(files) THEN rows END), 0),
      max(CASE WHEN ${isTwin} THEN {rows: rows, texts: [${texts}]} END) AS example,
      ${names.map((name) => `coalesce(sum(CASE WHEN ${name} IS NULL THEN rows END), 0)`).join(', ')}
    FROM (SELECT ${names.join(', ')}, count(*) AS rows, bit_or(file) AS files
      FROM (${rows.join(' UNION ALL ')}) GROUP BY ${names.join(', ')})`
  const [sharing, between, examples, ...empty] = await run({
    sql: `SELECT * REPLACE (to_json(example) AS example) FROM (${sql})`,
    values: parameters.values,
  })
  return {
    sharingRows: Number(sharing?.[0]),
    betweenFilesRows: Number(between?.[0]),
    example: readExample(examples?.[0]),
    emptyRows: empty.map(([rowsWithout]) => Number(rowsWithout)),
  }
}

function readExample(json: unknown): InspectedKey['example'] {
  if (json === null || json === undefined) return null
  const found = JSON.parse(String(json)) as {
    rows: number
    texts: readonly (string | null)[]
  } | null
  return found && { values: found.texts, rows: found.rows }
}
