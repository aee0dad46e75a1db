import type { Column } from '../../columns/column.js'
import { typeText } from '../../columns/data-type.js'
import { listed, many, quoted } from '../../text.js'
import type { DataFile, Version } from '../../versions/version.js'
import { finding } from './finding-table.js'
import type { Finding } from './finding-table.js'

/** Files with the same columns and types. */
interface Layout {
  readonly first: DataFile
  files: number
}

/** Names that clients can't have, and differences between the columns of a version's files. */
export function schemaFindings(version: Version): readonly Finding[] {
  const layouts = layoutsOf(version)
  const columns = version.columns.filter(({ hidden }) => !hidden)
  if (layouts.length < 2) return foreignNames(columns)
  return [
    ...foreignNames(columns),
    ...widenedFloats(columns, layouts),
    ...widenedTypes(columns, layouts),
    ...otherOrder(version, layouts),
  ]
}

/** A file without rows does not count, because it serves no row. */
function layoutsOf({ files }: Version): readonly Layout[] {
  const layouts = new Map<string, Layout>()
  for (const file of files) {
    if (file.rows === 0) continue
    const known = layouts.get(file.layout)
    if (known) known.files += 1
    else layouts.set(file.layout, { first: file, files: 1 })
  }
  return [...layouts.values()]
}

function foreignNames(columns: readonly Column[]): readonly Finding[] {
  const found = columns.filter(({ name }) => /[^ -~]/.test(name))
  if (found.length === 0) return []
  const message =
    `names with letters beyond ASCII: ${listed(found.map(({ name }) => quoted(name)))}: some ` +
    'generators of clients fail on them; rename them: columns: {NAME: {name: other_name}}'
  return [finding('name_not_ascii', message)]
}

function widenedFloats(columns: readonly Column[], layouts: readonly Layout[]): readonly Finding[] {
  const found = columns.filter((column) => isWidenedFloat(column, layouts))
  if (found.length === 0) return []
  const message =
    `${differences(found, layouts)}: FLOAT values are served as DOUBLE, ` +
    '0.1 as 0.10000000149011612. Write the files with one type'
  return [finding('float_widened', message)]
}

function isWidenedFloat({ source, type }: Column, layouts: readonly Layout[]): boolean {
  const stored = layouts.map(({ first }) => first.types.get(source))
  return typeText(type) === 'DOUBLE' && stored.some((each) => each && typeText(each) === 'FLOAT')
}

function widenedTypes(columns: readonly Column[], layouts: readonly Layout[]): readonly Finding[] {
  const found = columns
    .filter((column) => storedTypes(column, layouts).length > 1)
    .filter((column) => !isWidenedFloat(column, layouts))
  if (found.length === 0) return []
  const message = `${differences(found, layouts)}: served without loss; no action is needed`
  return [finding('types_widened', message)]
}

/** `"a" (INTEGER in x.parquet, BIGINT in y.parquet → BIGINT)`, for several columns. */
function differences(columns: readonly Column[], layouts: readonly Layout[]): string {
  return listed(
    columns.map((column) => {
      const types = storedTypes(column, layouts).map(([type, file]) => `${type} in ${file}`)
      return `${quoted(column.name)} (${types.join(', ')} → ${typeText(column.type)})`
    }),
  )
}

/** Each type that a column has in a file, with the first file that has it. */
function storedTypes(
  { source }: Column,
  layouts: readonly Layout[],
): readonly (readonly [type: string, file: string])[] {
  const types = new Map<string, string>()
  for (const { first } of layouts) {
    const type = first.types.get(source)
    if (type && !types.has(typeText(type))) types.set(typeText(type), first.name)
  }
  return [...types]
}

function otherOrder({ columns }: Version, layouts: readonly Layout[]): readonly Finding[] {
  const order = columns.map(({ source }) => source)
  const places = new Map(order.map((source, index) => [source, index]))
  const others = layouts.filter(({ first }) => {
    const own = [...first.types.keys()].map((source) => places.get(source) ?? -1)
    return own.some((place, index) => index > 0 && place < (own[index - 1] ?? -1))
  })
  if (others.length === 0) return []
  const files = others.reduce((sum, layout) => sum + layout.files, 0)
  const message =
    `${many(files, 'file')} with the columns in another order (first ${others[0]?.first.name}): ` +
    'callers get the order of the first file; no action is needed'
  return [finding('column_order', message)]
}
