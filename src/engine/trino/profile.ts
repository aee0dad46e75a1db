import type { Profile, ProfileQuestion } from '../engine.js'
import { servedText, textOf } from '../sql/encode.js'
import { profileColumns as profileOver } from '../sql/profile.js'
import { rowsOf, sourceOf } from './compile.js'
import { trino } from './dialect.js'
import { statement } from './statement.js'
import type { RunTrino } from './statement.js'

/** A sample by a hash of the key may have a few percent more rows than asked for. */
const sampleSlack = 1.1

/** Profiles columns of a table. */
export function profileColumns(question: ProfileQuestion, run: RunTrino): Promise<Profile> {
  return profileOver(trino, question, async (columns, aggregates) => {
    const compiled = statement((parameters) => {
      const rows = rowsOf(question.version, question.predicates, columns, parameters)
      return `SELECT ${aggregates.map(textOf).join(', ')} FROM (${rows}${sampled(question)})`
    })
    const [cells = []] = await run(compiled)
    return cells
  })
}

/** The same rows of the table each time, chosen by a hash of their key. */
function sampled({ version, rowsMax }: ProfileQuestion): string {
  if (rowsMax === null || version.rows <= rowsMax) return ''
  const parts = Math.ceil((version.rows / rowsMax) * sampleSlack)
  const key = version.key.map((column) => {
    return `coalesce(${textOf(servedText(trino, column.type, sourceOf(column)))}, '')`
  })
  const hash = `from_big_endian_64(xxhash64(to_utf8(${key.join(` || ' ' || `)})))`
  return ` AND mod(${hash}, ${parts}) = 0`
}
