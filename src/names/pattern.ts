import type { WordRange } from './vocabulary.js'

/** What one word of a question may be in a name, as numbers of the vocabulary. */
export interface Slot {
  /** The word itself. */
  readonly equals: readonly number[]
  /** Words that begin with it, and it as an abbreviation. */
  readonly ranges: readonly WordRange[]
  /** Words that are it with edits, and how many. */
  readonly edited: ReadonlyMap<number, number>
}

/**
 * A question read in one way: parts that a name must have in any order, each of words that are
 * neighbours in this order.
 */
export type Pattern = readonly (readonly Slot[])[]

/** Edits that make a word of a name the one of the question: 0 = it, or it begins so; -1 = none. */
export function editsOf(slot: Slot, word: number): number {
  for (const { low, high } of slot.ranges) if (word >= low && word < high) return 0
  return slot.edited.get(word) ?? -1
}

/** Whether no word can be it. */
export function isEmpty(slot: Slot): boolean {
  return slot.ranges.length === 0 && slot.edited.size === 0
}
