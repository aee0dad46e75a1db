import type { Value } from '../columns/filter-value.js'
import type { Predicate } from '../columns/predicate.js'
import type { Bounds, DataFile } from './version.js'

/** The files that may hold a row for every predicate, as indexes. */
export function filesThatMayHold(
  files: readonly DataFile[],
  predicates: readonly Predicate[],
): readonly number[] {
  const tests = predicates.map(fileTest)
  const { first, end } = rangeThatMayHold(files, predicates)
  const chosen: number[] = []
  for (let index = first; index < end; index += 1) {
    const file = files[index]
    if (file && file.rows > 0 && tests.every((mayHold) => mayHold(file))) chosen.push(index)
  }
  return chosen
}

/** From `first` up to but not including `end`. */
interface FileRange {
  readonly first: number
  readonly end: number
}

/** Binary search, if the files are sorted by a column: there may be thousands. */
function rangeThatMayHold(files: readonly DataFile[], predicates: readonly Predicate[]): FileRange {
  let [first, end] = [0, files.length]
  for (const predicate of predicates) {
    if (predicate.kind !== 'eq' || !isSorted(files, predicate.column.name)) continue
    const { column, value } = predicate
    const boundsAt = (index: number) => files[index]?.bounds.get(column.name)
    first = firstIndex(first, end, (index) => {
      const bounds = boundsAt(index)
      return bounds ? compareValues(bounds.max, value) >= 0 : true
    })
    end = firstIndex(first, end, (index) => {
      const bounds = boundsAt(index)
      return bounds ? compareValues(bounds.min, value) > 0 : true
    })
  }
  return { first, end }
}

/** Binary search for the first index that meets a test which all later ones meet; else `end`. */
function firstIndex(first: number, end: number, isMet: (index: number) => boolean): number {
  let [low, high] = [first, end]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isMet(middle)) high = middle
    else low = middle + 1
  }
  return low
}

const sortedColumns = new WeakMap<readonly DataFile[], Map<string, boolean>>()

/** Whether every file's bounds of a column are at least those of the file before. */
function isSorted(files: readonly DataFile[], name: string): boolean {
  const known = sortedColumns.get(files) ?? new Map<string, boolean>()
  sortedColumns.set(files, known)
  const sorted = known.get(name) ?? findWhetherSorted(files, name)
  known.set(name, sorted)
  return sorted
}

function findWhetherSorted(files: readonly DataFile[], name: string): boolean {
  return files.every(({ bounds }, index) => {
    const [before, now] = [files[index - 1]?.bounds.get(name), bounds.get(name)]
    if (!now) return false
    if (!before) return index === 0
    return compareValues(before.min, now.min) <= 0 && compareValues(before.max, now.max) <= 0
  })
}

type FileTest = (file: DataFile) => boolean

/** A file without bounds may hold anything. */
function fileTest(predicate: Predicate): FileTest {
  if (predicate.kind === 'nothing') return () => false
  const { name, source } = predicate.column
  const within = boundsTest(predicate)
  const takesEmpty = predicate.kind === 'is_null' || predicate.kind === 'isdistinct'
  return ({ bounds, partition }) => {
    if (predicate.kind === 'is_null' && partition.has(source)) return partition.get(source) === null
    const found = bounds.get(name)
    if (found === undefined) return true
    return found === null ? takesEmpty : within(found)
  }
}

function boundsTest(
  predicate: Exclude<Predicate, { kind: 'nothing' }>,
): (bounds: Bounds) => boolean {
  switch (predicate.kind) {
    case 'eq':
      return anyWithin([predicate.value])
    case 'in':
      return anyWithin([...predicate.values].sort(compareValues))
    case 'gt':
      return ({ max }) => compareValues(max, predicate.value) > 0
    case 'gte':
      return ({ max }) => compareValues(max, predicate.value) >= 0
    case 'lt':
      return ({ min }) => compareValues(min, predicate.value) < 0
    case 'lte':
      return ({ min }) => compareValues(min, predicate.value) <= 0
    case 'ne':
    case 'not_in':
    case 'isdistinct':
    case 'contains':
    case 'not_null':
      return () => true
    case 'is_null':
      return ({ isFull }) => !isFull
  }
}

/** Binary search: a list may be long, and the files many. */
function anyWithin(ascending: readonly Value[]): (bounds: Bounds) => boolean {
  return ({ min, max }) => {
    const isReached = (index: number) => compareValues(ascending[index] ?? min, min) >= 0
    const smallest = ascending[firstIndex(0, ascending.length, isReached)]
    return smallest !== undefined && compareValues(smallest, max) <= 0
  }
}

/** The engine's order of two values of one column; texts compare by UTF-8 bytes. */
export function compareValues(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right)
  return left < right ? -1 : left > right ? 1 : 0
}

/** UTF-8 order is the order of code points; UTF-16 order differs for surrogates. */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const difference = codeUnitRank(left, index) - codeUnitRank(right, index)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

function codeUnitRank(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}
