import type { Profile, ProfileQuestion } from '../../engine.js'
import { profileColumns as profileOver } from '../../sql/profile.js'
import type { RunAggregates } from '../../sql/profile.js'
import type { Choice } from '../choice.js'
import { duckdb } from '../dialect.js'
import { textOrNull } from '../run-statement.js'
import type { RunStatement } from '../run-statement.js'
import { compileRows } from './compile.js'
import { SqlParameters } from './condition.js'
import { planCount, planSample } from './pieces.js'

/** Columns of one statement: it is planned in a few milliseconds. */
const columnsMax = 48

/** Profiles columns of the chosen files, some at a time. */
export async function profileColumns(
  question: Omit<ProfileQuestion, 'version' | 'predicates'>,
  choice: Choice,
  run: RunStatement,
): Promise<Profile> {
  const { columns, rowsMax } = question
  const pieces = rowsMax === null ? planCount(choice) : planSample(choice, rowsMax)
  const aggregate: RunAggregates = async (named, aggregates) => {
    const parameters = new SqlParameters()
    const rows = compileRows(pieces, choice.predicates, named, parameters)
    const sql = `SELECT ${aggregates.join(', ')} FROM (${rows})`
    const found = await run(Object.freeze({ sql, values: parameters.values }))
    return found.map(([value]) => textOrNull(value))
  }
  const profiles: Profile[] = []
  for (let from = 0; from === 0 || from < columns.length; from += columnsMax) {
    const slice = { ...question, columns: columns.slice(from, from + columnsMax) }
    profiles.push(await profileOver(duckdb, slice, aggregate))
  }
  const [first] = profiles
  return { rows: first?.rows ?? 0, columns: profiles.flatMap((each) => each.columns) }
}
