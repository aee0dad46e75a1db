import { insteadContains } from '../columns/search-words.js'
import type { Filter } from './read-filters.js'

/**
 * What a caller may have meant by filters that are right, of the request alone; null = nothing to
 * say.
 */
export function filterHint(filters: readonly Filter[]): string | null {
  return filters.flatMap(hintsOf).join(' ') || null
}

function hintsOf({ column, operator, texts }: Filter): readonly string[] {
  const [text = ''] = texts
  if (operator === 'like' && text.includes('%')) {
    const { advice } = insteadContains(column.name, operator, text)
    return [`In like, % is an ordinary character. ${advice}.`]
  }
  const isNull = column.rules.shown === 'string' && /^null$/i.test(text)
  if (!isNull || (operator !== 'eq' && operator !== 'ne')) return []
  const empties = operator === 'eq' ? 'is_null finds' : 'not_null leaves out'
  return [`${column.name}=${operator}.${text} means that text; ${empties} empty values.`]
}
