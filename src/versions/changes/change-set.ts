import { typeText } from '../../columns/data-type.js'
import type { Column } from '../../columns/column.js'
import type { Version } from '../version.js'

/** A column that differs between two versions. */
export interface ChangedColumn {
  readonly name: string
  /** Its name in the files. */
  readonly source: string
}

/** How the columns differ that callers of two versions see. */
export interface ColumnChanges {
  readonly added: readonly ChangedColumn[]
  readonly removed: readonly ChangedColumn[]
  /** Their values can't be compared. */
  readonly retyped: readonly ChangedColumn[]
}

/** Increase it when the files of changes are laid out in another way: others are not read. */
export const setLayout = 2

/** What differs between a version and the one before it. */
export interface ReadySet {
  readonly kind: 'ready'
  readonly layout: number
  /**
   * The file of rows by key: of a key that differs, the row before (`side` 0) and the row after
   * (1), as far as there are. `cells` has the JSON texts of its values, an empty one for null, with
   * `cellSeparator` between them; `d0`, `d1`, … have the bits of `differences.ts`.
   */
  readonly path: string
  readonly rows: number
  /** The columns of the file, `c0`, `c1`, …, by their names in the dataset's files. */
  readonly sources: readonly string[]
  /** The key, by its names in the dataset's files. */
  readonly key: readonly string[]
  readonly columns: ColumnChanges
  /** `newestHistory` of the version before, as a text; null without. */
  readonly newestBefore: string | null
}

/** What differs, or why that can't be told. */
export type ChangeSet =
  | ReadySet
  | {
      readonly kind: 'none'
      /** For the owner. */
      readonly reason: string
      /** The key of the later version does not tell its rows apart. */
      readonly isKeyless: boolean
    }

/**
 * Computes what differs between two versions, into the file `target`.
 * @throws the signal's reason when it aborts; the engine's error
 */
export type CompareRows = (
  order: {
    readonly before: Version
    readonly after: Version
    readonly target: string
    readonly tempFolder: string
  },
  signal: AbortSignal,
) => Promise<ChangeSet>

/** Why the changes of a version can't be told by its key; null if its columns can. */
export function keyProblem({ key, table }: Version): string | null {
  if (table) return 'the table of another engine has no versions to compare'
  if (key.length === 0) return 'the dataset has no key'
  const hidden = key.find((column) => column.hidden)
  if (hidden) return `the key column "${hidden.name}" is hidden`
  const inexact = key.find((column) => !hasExactOrder(column))
  return inexact ? `the key column "${inexact.name}" can't order rows` : null
}

/** Whether rows can be in the order of a column, and a cursor can hold its values. */
function hasExactOrder({ rules: { domain } }: Column): boolean {
  if (domain.kind === 'text') return domain.form !== 'rendered'
  return domain.kind === 'grid' || domain.kind === 'boolean'
}

/** How the columns of two versions differ. A renamed column is another one. */
export function compareColumns(before: Version, after: Version): ColumnChanges {
  const [earlier, later] = [bySource(before), bySource(after)]
  const added = after.columns.filter((each) => !isSame(each, earlier.get(each.source)))
  const removed = before.columns.filter((each) => !isSame(each, later.get(each.source)))
  const retyped = after.columns.filter((each) => isRetyped(earlier.get(each.source), each))
  const visible = (columns: readonly Column[]) =>
    columns.filter(({ hidden }) => !hidden).map(({ name, source }) => ({ name, source }))
  return { added: visible(added), removed: visible(removed), retyped: visible(retyped) }
}

/** The columns of a file of changes; `isAdded` ones have no value before. */
export function comparedColumns(
  before: Version,
  after: Version,
): readonly { readonly column: Column; readonly isAdded: boolean }[] {
  const earlier = bySource(before)
  return after.columns
    .map((column) => ({ column, old: earlier.get(column.source) }))
    .filter(({ column, old }) => !isRetyped(old, column))
    .map(({ column, old }) => ({ column, isAdded: !isSame(column, old) }))
}

function bySource({ columns }: Version): ReadonlyMap<string, Column> {
  return new Map(columns.map((column) => [column.source, column]))
}

/** Whether callers know a column under the same name, or don't know it, in both versions. */
function isSame(column: Column, other: Column | undefined): boolean {
  return other?.name === column.name && other.hidden === column.hidden
}

/** The types whose values all have a place in the next one, and are served alike. */
const widening = [
  ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT'],
  ['UTINYINT', 'USMALLINT', 'UINTEGER'],
]

function isRetyped(old: Column | undefined, column: Column): boolean {
  if (!old || !isSame(column, old)) return false
  const [was, is] = [typeText(old.type), typeText(column.type)]
  if (old.asText !== column.asText) return true
  const isWider = widening.some(
    (types) => types.includes(was) && types.indexOf(is) > types.indexOf(was),
  )
  return was !== is && !isWider
}
