import { typeText } from '../../../columns/data-type.js'
import type { DataType } from '../../../columns/data-type.js'
import { identifier } from '../../sql/quote.js'
import { bindPaths, boundFilesSql } from '../paths.js'
import type { RunStatement } from '../run-statement.js'
import { anyPart } from './any-part.js'
import type { FileGroup } from './file-group.js'
import { slices, unreadableColumn, wrongValue } from './read-values.js'

/**
 * Refuses times beyond a day and decimals of too many digits. They are numbers in a file, which
 * DuckDB compares rightly; but its texts of them, also of those in a footer's statistics, are
 * wrong, or end the process: call it before anything that makes such a text.
 * @throws FileError for the first of them
 */
export async function checkRanges(run: RunStatement, { files, columns }: FileGroup): Promise<void> {
  const paths = files.filter(({ rows }) => rows > 0).map(({ path }) => path)
  const ranged = columns.filter((column) => isOutside(column) !== null)
  if (paths.length === 0) return
  for (const slice of slices(ranged)) {
    const firsts = slice.map(
      (column) => `min(CASE WHEN ${isOutside(column)} THEN file_row_number END)`,
    )
    const [indexes = [], ...found] = await run({
      sql: `SELECT file_index, ${firsts.join(', ')} FROM ${boundFilesSql('$1')}
        GROUP BY file_index ORDER BY file_index`,
      values: [bindPaths(paths)],
    })
    for (const [at, index] of indexes.entries()) {
      const column = slice.find((_, place) => (found[place]?.[at] ?? null) !== null)
      if (!column) continue
      const row = Number(found[slice.indexOf(column)]?.[at])
      const reason = `a value that ${typeText(column.type)} can't hold; ${wrongValue}`
      const place = `, row ${row} (counted from 0)`
      throw unreadableColumn(paths[Number(index)] ?? '', column, place, reason)
    }
  }
}

function isOutside({ name, type }: { name: string; type: DataType }): string | null {
  return anyPart(identifier(name), type, (value, part) => {
    const ends = endsOf(part)
    if (ends === null) return null
    const [least, most] = ends.map((end) => `CAST('${end}' AS ${typeText(part)})`)
    return `${value} NOT BETWEEN ${least} AND ${most}`
  })
}

function endsOf(type: DataType): readonly string[] | null {
  if (type.kind === 'decimal') {
    const most = `${'9'.repeat(type.width - type.scale)}.${'9'.repeat(type.scale)}`
    return [`-${most}`, most]
  }
  return /^TIME(_NS)?$/.test(typeText(type)) ? ['00:00:00', '24:00:00'] : null
}
