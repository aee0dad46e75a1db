import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { toolAnswer } from '../harness/doors.js'
import type { Reply } from '../harness/http.js'

const Rows = Type.Object({ data: Type.Array(Type.Unknown()) })
const Columns = Type.Record(Type.String(), Type.Array(Type.Unknown()))
const ToolAnswer = toolAnswer(Type.Object({ data: Columns }))

/** Counts the rows of an answer, whatever its form; 0 for an answer without any. */
export function rowsIn({ headers, text }: Reply): number {
  if (headers['content-type']?.startsWith('text/csv')) return text.trimEnd().split('\n').length - 1
  if (!text.startsWith('{')) return 0
  const value: unknown = JSON.parse(text)
  if (Value.Check(Rows, value)) return value.data.length
  if (!Value.Check(ToolAnswer, value)) return 0
  const [column = []] = Object.values(value.result.structuredContent?.data ?? {})
  return column.length
}
