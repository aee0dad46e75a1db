/**
 * In which columns the rows of a key differ, as words of bits in a file of changes: `d0`, `d1`, …
 * The first bit is set where there is only one row, the others belong to the columns in order. A
 * bit may be set of values that are served alike.
 */

/** So many bits are exact in a number of JavaScript. */
const bitsPerWord = 48

/** SQL that is true of a row that is the only one, or the first of its key. */
export const isOneRow = 'd0 & 1 <> 0'

/** SQL for the words, of conditions for the first bit and for each column. */
export function differencesSql(conditions: readonly string[]): readonly string[] {
  const words = Math.ceil(conditions.length / bitsPerWord)
  return Array.from({ length: words }, (_, word) => {
    const bits = conditions.slice(word * bitsPerWord, (word + 1) * bitsPerWord)
    const sum = bits.map((condition, bit) => `(CAST(${condition} AS BIGINT) << ${bit})`).join(' + ')
    return `${sum} AS d${word}`
  })
}

/** SQL that is true where there is only one row, or one of these columns of the file differs. */
export function differSql(columns: readonly number[]): string {
  const words = new Map<number, number>()
  for (const index of new Set([0, ...columns.map((column) => column + 1)])) {
    const word = Math.floor(index / bitsPerWord)
    words.set(word, (words.get(word) ?? 0) + 2 ** (index % bitsPerWord))
  }
  return `(${[...words].map(([word, bits]) => `d${word} & ${bits} <> 0`).join(' OR ')})`
}
