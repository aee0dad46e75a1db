/** Words of names are compared up to this length. */
export const comparedMax = 64

/**
 * A function that counts the edits between one word and others, up to a maximum, and one more for
 * all beyond. An edit is a letter wrong, missing or too many, or two neighbours swapped.
 */
export function editCounter(word: string): EditCounter {
  const wanted = word.slice(0, comparedMax)
  const width = wanted.length + 1
  // Three rows of the table are enough: a swap looks two rows back.
  let before = new Uint8Array(width)
  let last = new Uint8Array(width)
  let row = new Uint8Array(width)
  return (letters, start, end, max, isBeginning) => {
    for (let at = 0; at < width; at++) last[at] = at
    let best = max + 1
    for (let from = start; from < end; from++) {
      const smallest = fill(wanted, letters, from, from - start + 1, before, last, row)
      ;[before, last, row] = [last, row, before]
      if (isBeginning) best = Math.min(best, last[width - 1] ?? best)
      if (smallest > max) return best
    }
    return isBeginning ? best : Math.min(last[width - 1] ?? best, max + 1)
  }
}

/**
 * Counts for the word of `letters` from `start` to `end`; `isBeginning`: for that beginning of it
 * that is nearest.
 */
export type EditCounter = (
  letters: Uint16Array,
  start: number,
  end: number,
  max: number,
  isBeginning: boolean,
) => number

/** Fills the row of the letter at `from`, the `line`th, and returns its smallest number. */
function fill(
  wanted: string,
  letters: Uint16Array,
  from: number,
  line: number,
  before: Uint8Array,
  last: Uint8Array,
  row: Uint8Array,
): number {
  const letter = letters[from]
  row[0] = line
  let smallest = line
  for (let at = 1; at <= wanted.length; at++) {
    const isSame = wanted.charCodeAt(at - 1) === letter
    let edits = Math.min(
      (last[at] ?? 0) + 1,
      (row[at - 1] ?? 0) + 1,
      (last[at - 1] ?? 0) + (isSame ? 0 : 1),
    )
    const isSwap =
      line > 1 &&
      at > 1 &&
      wanted.charCodeAt(at - 2) === letter &&
      wanted.charCodeAt(at - 1) === letters[from - 1]
    if (isSwap) edits = Math.min(edits, (before[at - 2] ?? 0) + 1)
    row[at] = edits
    if (edits < smallest) smallest = edits
  }
  return smallest
}
