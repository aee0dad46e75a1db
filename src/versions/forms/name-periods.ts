/**
 * The periods in which an entity has a name are bits of a number: the newest year of the history
 * column is the highest one, and each year before it the next lower one. The lowest one has all
 * earlier years, and rows without a year. Without a history column all rows are of the newest.
 */
export const periodBits = 52

/** The bits that a caller may see: those of the latest years, or all. */
export function windowBits(years: number | 'all'): number {
  if (years === 'all') return 2 ** periodBits - 1
  return 2 ** periodBits - 2 ** Math.max(1, periodBits - years)
}
