import type { Column } from '../columns/column.js'
import { quoted } from '../text.js'
import type { DatasetEntry } from './registry-schema.js'
import type { Problem } from './registry.js'

/** Columns marked with `search` that hold no text. */
export function searchProblems(
  { columns: stated = {} }: DatasetEntry,
  columns: readonly Column[],
): readonly Problem[] {
  return columns.flatMap(({ name, source, rules: { shown, domain } }) => {
    const isMarked = Object.hasOwn(stated, source) && stated[source]?.search
    if (!isMarked || (domain.kind === 'text' && domain.form === 'text')) return []
    const what = shown === 'string' ? 'not stored as text' : shown
    const message = `search is for text columns; ${quoted(name)} is ${what}`
    return [{ path: ['columns', source, 'search'], message }]
  })
}
