import { insteadContains } from '../columns/search-words.js'
import type { Filter } from './read-filters.js'

/** What a caller may have meant by filters that are right, in sentences; of the request alone. */
export function filterHints(filters: readonly Filter[]): readonly string[] {
  return filters.flatMap(({ column, operator, texts }) => {
    const [text = ''] = texts
    if (operator === 'like' && text.includes('%')) {
      const { advice } = insteadContains(column.name, operator, text)
      return [`In like, % is an ordinary character. ${advice}.`]
    }
    const isNull = column.rules.shown === 'string' && /^null$/i.test(text)
    if (!isNull || (operator !== 'eq' && operator !== 'ne')) return []
    const empties = operator === 'eq' ? 'is_null finds' : 'not_null leaves out'
    return [`${column.name}=${operator}.${text} means that text; ${empties} empty values.`]
  })
}
