import { bindPaths } from '../paths.js'
import { textOrNull } from '../run-statement.js'
import type { RunStatement } from '../run-statement.js'

/** A timestamp in nanoseconds, as Spark and Hive wrote it. */
export const int96 = 'INT96'

/** A column of a file with all columns nested in it. */
export interface SchemaColumn {
  readonly name: string
  /** True if the file can't hold an empty value here. */
  readonly required: boolean
  /**
   * Logical types of the column and all columns in it, in DuckDB's notation; `int96` of timestamps
   * in that type, which has no logical one; null if it has none.
   */
  readonly logicalTypes: readonly (string | null)[]
  /** The same of those without columns in them. */
  readonly leafTypes: readonly (string | null)[]
  /** The names of columns in it that have the same parent, in any depth. */
  readonly siblings: readonly (readonly string[])[]
}

/** Reads the columns of a file. Its schema is a tree in depth-first order, below one root. */
export async function readSchemaTree(
  run: RunStatement,
  path: string,
): Promise<readonly SchemaColumn[]> {
  const [names = [], children = [], repetitions = [], types = []] = await run({
    sql: `SELECT name, coalesce(num_children, 0), repetition_type,
       CASE WHEN type = '${int96}' THEN type ELSE logical_type END
     FROM parquet_schema($1)`,
    values: [bindPaths([path])],
  })
  const endOf = (index: number): number => {
    let end = index + 1
    for (let child = 0; child < Number(children[index]); child++) end = endOf(end)
    return end
  }
  const childrenOf = (index: number): readonly number[] => {
    const own: number[] = []
    for (let at = index + 1; own.length < Number(children[index]); at = endOf(at)) own.push(at)
    return own
  }
  const columns: SchemaColumn[] = []
  for (let index = 1, end: number; index < names.length; index = end) {
    end = endOf(index)
    const logicalTypes = types.slice(index, end).map(textOrNull)
    columns.push({
      name: String(names[index]),
      required: repetitions[index] === 'REQUIRED',
      logicalTypes,
      siblings: logicalTypes.map((_, at) =>
        childrenOf(index + at).map((child) => String(names[child])),
      ),
      leafTypes: logicalTypes.filter((_, at) => Number(children[index + at]) === 0),
    })
  }
  return columns
}
