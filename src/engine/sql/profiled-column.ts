import type { Column } from '../../columns/column.js'
import { momentEdges, numberEdges } from './bins.js'
import type { Edges } from './bins.js'
import type { ColumnProfile } from '../engine.js'

/** Where a column's values are counted in a histogram. */
export interface Scale {
  readonly edges: Edges
  /** An edge as a JSON text. */
  readonly textOf: (edge: number) => string
}

const orderedTypes: readonly string[] = ['integer', 'number', 'date', 'timestamp', 'time']
/** Types of codes and classes; amounts and times rarely repeat. */
const listedTypes: readonly string[] = ['string', 'integer', 'boolean', 'date']

/** Whether a profile has the smallest and largest value of the column. */
export function isOrdered({ rules }: Column): boolean {
  return orderedTypes.includes(rules.shown)
}

/** Whether a profile lists the column's values if they are few. */
export function isListed({ rules }: Column): boolean {
  return listedTypes.includes(rules.shown)
}

/**
 * The scale of a column with these ends, as JSON texts: of numbers, or of milliseconds since 1970;
 * null for a column without a range.
 */
export function scaleOf(
  { rules: { shown } }: Column,
  { min, max }: Pick<ColumnProfile, 'min' | 'max'>,
): Scale | null {
  if (min === null || max === null) return null
  if (shown === 'integer' || shown === 'number') {
    const [least = NaN, most = NaN] = [min, max].map((text) => Number(text.replaceAll('"', '')))
    const edges = numberEdges(least, most, shown === 'integer')
    return edges && { edges, textOf: String }
  }
  if (shown !== 'date' && shown !== 'timestamp') return null
  const [least = NaN, most = NaN] = [min, max].map((text) => Date.parse(momentText(text)))
  const edges = momentEdges(least, most, shown === 'date')
  const isZoned = min.endsWith('Z"')
  const textOf = (edge: number) => {
    if (edge === least || edge === most) return edge === least ? min : max
    const [day = '', time = ''] = new Date(edge).toISOString().split('T')
    return JSON.stringify(
      shown === 'date' ? day : `${day}T${time.slice(0, 8)}${isZoned ? 'Z' : ''}`,
    )
  }
  return edges && { edges, textOf }
}

/** A date or a timestamp of the service for `Date.parse`: without a zone it is UTC. */
function momentText(json: string): string {
  const text = json.replaceAll('"', '')
  return text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text
}
