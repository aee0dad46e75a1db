import type { Predicate } from '../../../columns/predicate.js'
import type { ProfileQuestion } from '../../engine.js'
import { isOfKey } from '../choice.js'
import type { Choice } from '../choice.js'
import { costOfFiles, soloRowsMax } from '../read/pieces.js'
import type { Piece } from '../read/pieces.js'
import type { QuerySize } from './turn.js'

/** Comparisons for one row; DuckDB looks a long list up, which costs about as many. */
const comparisonsMax = 64
const listComparisonsMax = 16
/** A search for one word in a text of 100 bytes takes as long as this many comparisons. */
const searchComparisons = 16

/**
 * The initial size of a page; unless it is by key, it grows after many rows (`isMuch`). A search in
 * many texts is large from the start: most searches read all rows.
 */
export function sizeOfPage(choice: Choice): QuerySize {
  if (!areFew(choice) || isSearch(choice)) return 'large'
  if (!choice.isByKey) return 'small'
  return isMuch(costOfFiles(choice.files)) ? 'byKey' : 'lookUp'
}

/** A count reads every row of the chosen files; without conditions it reads only file metadata. */
export function sizeOfCount(choice: Choice): QuerySize {
  if (choice.predicates.length === 0) return 'small'
  const size = sizeOfPage(choice)
  return size === 'small' && isMuch(costOfFiles(choice.files)) ? 'large' : size
}

/** A profile reads rows × columns cells. */
export function sizeOfProfile(
  choice: Choice,
  { columns, rowsMax }: Pick<ProfileQuestion, 'columns' | 'rowsMax'>,
): QuerySize {
  const rows = Math.min(costOfFiles(choice.files), rowsMax ?? Infinity)
  return sizeOfCells(choice, rows * columns.length)
}

/** The size of work that reads so many cells. */
function sizeOfCells(choice: Choice, cells: number): QuerySize {
  return areFew(choice) && !isMuch(cells) ? 'small' : 'large'
}

/** Where a query of this size runs. */
export function planOf(size: QuerySize): Piece['plan'] {
  return size === 'small' || size === 'lookUp' ? 'solo' : 'together'
}

/**
 * Where a summary or top of so many columns runs: DuckDB plans what runs at a low priority on the
 * event loop.
 */
export function planOfScan(choice: Choice, columns: number): Piece['plan'] {
  return planOf(sizeOfCells(choice, costOfFiles(choice.files) * Math.max(columns, 1)))
}

/** True for more rows than small work reads. */
export function isMuch(rows: number): boolean {
  return rows > soloRowsMax
}

/**
 * True if comparisons cost little; those on the key do not count: they choose files or end early.
 */
function areFew({ version, predicates }: Choice): boolean {
  const others = predicates.filter((predicate) => !isOfKey(version, predicate))
  return others.reduce((sum, each) => sum + comparisonsOf(each), 0) <= comparisonsMax
}

/** True if words are searched in the texts of many rows, without a key that chooses them. */
function isSearch({ isByKey: hasKey, predicates, files }: Choice): boolean {
  const hasWords = predicates.some(({ kind }) => kind === 'contains')
  return hasWords && !hasKey && isMuch(costOfFiles(files))
}

function comparisonsOf(predicate: Predicate): number {
  if (predicate.kind === 'contains') return searchComparisons
  return 'values' in predicate ? Math.min(predicate.values.length, listComparisonsMax) : 1
}
