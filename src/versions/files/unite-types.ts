import { columnRules } from '../../columns/column-types.js'
import { narrowest, typeText, widen, widenAll, withTypes } from '../../columns/data-type.js'
import type { DataType, ScalarName } from '../../columns/data-type.js'
import type { statedTypes } from '../../registry/registry-schema.js'
import { quoted } from '../../text.js'
import type { FitQuestion } from '../opener.js'
import type { ContentFile } from './build-version.js'

/** A type that the registry states for a column. */
export type StatedType = (typeof statedTypes)[number]

/** The type of a column across files; or what must be known of its values; or why it has none. */
export type UnitedType =
  | { readonly kind: 'type'; readonly type: DataType }
  | {
      readonly kind: 'question'
      readonly files: readonly ContentFile[]
      readonly question: FitQuestion
    }
  | { readonly kind: 'clash'; readonly message: string }

/** A column in one of the files that have it. */
interface Use {
  readonly file: ContentFile
  readonly type: DataType
}

const targets: Readonly<Record<StatedType, ScalarName>> = {
  integer: 'BIGINT',
  number: 'DOUBLE',
  string: 'VARCHAR',
  boolean: 'BOOLEAN',
  date: 'DATE',
  timestamp: 'TIMESTAMP',
  time: 'TIME',
}

/** The common type by the types alone; undefined where values must be known. */
export function uniteByTypes(
  types: readonly DataType[],
  stated: StatedType | undefined,
): DataType | undefined {
  const wide = widenAll(types)
  const type = wide && withTypes(wide)
  return stated === undefined || (type && columnRules(type).shown === stated) ? type : undefined
}

/**
 * The common type of a column that `uniteByTypes` leaves open. Files in which it has no value fit
 * every type. Of types that hold each other only in part, the narrower one serves if it holds every
 * value.
 */
export function uniteByValues(
  name: string,
  files: readonly ContentFile[],
  stated: StatedType | undefined,
): UnitedType {
  const uses = files.flatMap((file): Use[] => {
    const column = file.opened.columns.find((each) => each.name === name)
    return column && file.opened.rows > 0 ? [{ file, type: column.type }] : []
  })
  const filled = uses.filter(({ file }) => file.opened.fits?.get(name)?.hasValues !== false)
  const types = distinctTypes(filled)
  const type = uniteByTypes(types, stated)
  if (type) return { kind: 'type', type }
  const target = stated === undefined ? narrowest(types) : targetOf(stated, types)
  if (!target) return askForValues(name, filled)
  const doubtful = filled.filter((use) => !holds(target, use.type))
  const text = typeText(target)
  const unknown = doubtful.filter(({ file }) => file.opened.fits?.get(name)?.target !== text)
  if (unknown.length > 0) return ask(name, unknown, target)
  const bad = doubtful.find(({ file }) => file.opened.fits?.get(name)?.misfit)
  if (!bad) return { kind: 'type', type: target }
  return { kind: 'clash', message: misfitText(name, filled, bad, target, stated) }
}

function ask(name: string, uses: readonly Use[], target: DataType | null): UnitedType {
  const files = uses.map(({ file }) => file)
  return { kind: 'question', files, question: { column: name, target } }
}

/** Types of different meaning: those that fewer files have may have no values. */
function askForValues(name: string, filled: readonly Use[]): UnitedType {
  const byType = Map.groupBy(filled, ({ type }) => typeText(type))
  const rarest = [...byType.values()].sort((left, right) => left.length - right.length)
  for (const uses of rarest) {
    const unknown = uses.filter(({ file }) => !file.opened.fits?.has(name))
    if (unknown.length > 0) return ask(name, unknown, null)
  }
  const [first, other] = [...byType.values()].map(([use]) => use)
  const message =
    `column ${quoted(name)} is ${where(first)} and ${where(other)}; no type holds both without ` +
    `loss. Write one type, or serve texts: columns: {${quoted(name)}: {type: string}}`
  return { kind: 'clash', message }
}

/** The type to try for a stated one, so that it holds as many values as it can. */
function targetOf(stated: StatedType, types: readonly DataType[]): DataType {
  const target: DataType = { kind: 'scalar', name: targets[stated] }
  const same = types.filter((type) => columnRules(type).shown === stated)
  const hasNanoseconds = types.some((type) => typeText(type) === 'TIMESTAMP_NS')
  if (hasNanoseconds && stated === 'timestamp') return { kind: 'scalar', name: 'TIMESTAMP_NS' }
  return widenAll([...same, target]) ?? target
}

/** Whether a type holds every value of another; as text, every value has a place. */
function holds(target: DataType, type: DataType): boolean {
  const wide = widen(target, type)
  return typeText(target) === 'VARCHAR' || (wide !== undefined && isSame(wide, target))
}

function misfitText(
  name: string,
  filled: readonly Use[],
  bad: Use,
  target: DataType,
  stated: StatedType | undefined,
): string {
  const { row, value } = bad.file.opened.fits?.get(name)?.misfit ?? { row: 0, value: '' }
  const misfit = `row ${row} (counted from 0) has ${quoted(value)}`
  if (stated !== undefined) {
    return (
      `column ${quoted(name)} can't be ${stated}: it is ${where(bad)}, where ${misfit}, which ` +
      `${typeText(target)} can't hold; correct the value or the type`
    )
  }
  const other = filled.find(({ type }) => !isSame(type, bad.type))
  const way = columnRules(target).shown === 'integer' ? 'number' : 'timestamp'
  return (
    `column ${quoted(name)} is ${where(other)} and ${where(bad)}, where ${misfit}, which ` +
    `${typeText(target)} can't hold; correct it, or serve all as ${way}s: ` +
    `columns: {${quoted(name)}: {type: ${way}}}`
  )
}

function where(use: Use | undefined): string {
  return use ? `${typeText(use.type)} in ${use.file.source.name}` : ''
}

function distinctTypes(uses: readonly Use[]): readonly DataType[] {
  return [...new Map(uses.map(({ type }) => [typeText(type), type])).values()]
}

function isSame(left: DataType, right: DataType): boolean {
  return typeText(left) === typeText(right)
}
