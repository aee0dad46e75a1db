/**
 * A column's storage type as the engine reads it from a file, without the engine's classes.
 * `other` is a type without rules of its own; it is served as text.
 */
export type DataType =
  | { readonly kind: 'scalar'; readonly name: ScalarName }
  | { readonly kind: 'decimal'; readonly width: number; readonly scale: number }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'list'; readonly element: DataType }
  | { readonly kind: 'array'; readonly element: DataType; readonly length: number }
  | { readonly kind: 'struct'; readonly fields: readonly StructField[] }
  | { readonly kind: 'map'; readonly key: DataType; readonly value: DataType }
  | { readonly kind: 'other'; readonly name: string }

export interface StructField {
  readonly name: string
  readonly type: DataType
}

const noTypeName = 'NULL'
/** The type of a column, or of a part of one, that has none because all its values are empty. */
export const noType: DataType = { kind: 'other', name: noTypeName }

const otherScalarNames = [
  'BOOLEAN',
  'FLOAT',
  'DOUBLE',
  'VARCHAR',
  'UUID',
  'DATE',
  'TIME',
  'TIME_NS',
  'TIMESTAMP_S',
  'TIMESTAMP_MS',
  'TIMESTAMP',
  'TIMESTAMP_NS',
  'TIMESTAMPTZ',
  'BLOB',
  'VARIANT',
  'JSON',
] as const

export type ScalarName = IntegerName | (typeof otherScalarNames)[number]

/** The type in DuckDB's notation, for messages, casts and comparison. Names inside are quoted. */
export function typeText(type: DataType): string {
  switch (type.kind) {
    case 'scalar':
      return type.name
    case 'decimal':
      return `DECIMAL(${type.width},${type.scale})`
    case 'enum':
      return `ENUM(${type.values.map((value) => `'${value.replaceAll("'", "''")}'`).join(', ')})`
    case 'list':
      return `${typeText(type.element)}[]`
    case 'array':
      return `${typeText(type.element)}[${type.length}]`
    case 'struct':
      return `STRUCT(${type.fields.map(fieldText).join(', ')})`
    case 'map':
      return `MAP(${typeText(type.key)}, ${typeText(type.value)})`
    case 'other':
      return type.name
  }
}

function fieldText(field: StructField): string {
  return `"${field.name.replaceAll('"', '""')}" ${typeText(field.type)}`
}

interface IntegerRange {
  readonly min: bigint
  readonly max: bigint
}

/** The values that each integer type holds, narrowest type first. */
export const integerRanges = {
  TINYINT: signed(8),
  UTINYINT: unsigned(8),
  SMALLINT: signed(16),
  USMALLINT: unsigned(16),
  INTEGER: signed(32),
  UINTEGER: unsigned(32),
  BIGINT: signed(64),
  UBIGINT: unsigned(64),
  HUGEINT: signed(128),
  UHUGEINT: unsigned(128),
} as const

export type IntegerName = keyof typeof integerRanges

const integerNames = Object.keys(integerRanges).filter(isIntegerName)
export const scalarNames: readonly ScalarName[] = [...integerNames, ...otherScalarNames]

function signed(bits: number): IntegerRange {
  return { min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n }
}

function unsigned(bits: number): IntegerRange {
  return { min: 0n, max: 2n ** BigInt(bits) - 1n }
}

function isIntegerName(name: string): name is IntegerName {
  return Object.hasOwn(integerRanges, name)
}

function rangeOf(type: DataType): IntegerRange | undefined {
  return type.kind === 'scalar' && isIntegerName(type.name) ? integerRanges[type.name] : undefined
}

/**
 * The narrowest type that holds every value of both without rounding; undefined without one.
 * Files of one dataset may differ in width, not in meaning.
 */
export function widen(left: DataType, right: DataType): DataType | undefined {
  if (typeText(left) === typeText(right) || isNoType(right)) return left
  if (isNoType(left)) return right
  return (
    widenIntegers(left, right) ??
    widenDecimals(left, right) ??
    widenNested(left, right) ??
    widenOthers(left, right)
  )
}

/** The type that holds every value of all without rounding; undefined without one. */
export function widenAll(types: readonly DataType[]): DataType | undefined {
  return types.reduce<DataType | undefined>((wide, type) => wide && widen(wide, type), noType)
}

function isNoType(type: DataType): boolean {
  return type.kind === 'other' && type.name === noTypeName
}

/** A type whose parts all have one: DuckDB reads as integers what has none. */
export function withTypes(type: DataType): DataType {
  return mapLeaves(type, (leaf) => (isNoType(leaf) ? scalar('INTEGER') : leaf))
}

/** The type with each part that has no parts changed, in the order of its text. */
export function mapLeaves(type: DataType, change: (leaf: DataType) => DataType): DataType {
  switch (type.kind) {
    case 'list':
    case 'array':
      return { ...type, element: mapLeaves(type.element, change) }
    case 'map':
      return { ...type, key: mapLeaves(type.key, change), value: mapLeaves(type.value, change) }
    case 'struct': {
      const fields = type.fields.map((field) => ({ ...field, type: mapLeaves(field.type, change) }))
      return { ...type, fields }
    }
    default:
      return change(type)
  }
}

/** The parts of a type that have no parts, in the order of its text. */
export function leavesOf(type: DataType): readonly DataType[] {
  const leaves: DataType[] = []
  mapLeaves(type, (leaf) => {
    leaves.push(leaf)
    return leaf
  })
  return leaves
}

/** True for numbers whose values are rounded, and may be NaN or infinite. */
export function isFloat(type: DataType): boolean {
  return type.kind === 'scalar' && (type.name === 'FLOAT' || type.name === 'DOUBLE')
}

/** Lists, maps and structs, by their parts. */
function widenNested(left: DataType, right: DataType): DataType | undefined {
  if (left.kind === 'list' && right.kind === 'list') {
    const element = widen(left.element, right.element)
    return element && { kind: 'list', element }
  }
  if (left.kind === 'map' && right.kind === 'map') {
    const [key, value] = [widen(left.key, right.key), widen(left.value, right.value)]
    return key && value && { kind: 'map', key, value }
  }
  if (left.kind !== 'struct' || right.kind !== 'struct') return undefined
  const fields = widenFields(left.fields, right.fields)
  return fields && { kind: 'struct', fields }
}

/** Fields by their names, as columns are: those of the first, then those that the other adds. */
function widenFields(
  left: readonly StructField[],
  right: readonly StructField[],
): readonly StructField[] | undefined {
  const wide = new Map(left.map(({ name, type }) => [name, type]))
  for (const { name, type } of right) {
    const widened = widen(wide.get(name) ?? noType, type)
    if (!widened) return undefined
    wide.set(name, widened)
  }
  // The engine does not tell apart names that differ only in case.
  const names = new Set([...wide.keys()].map((name) => name.toLowerCase()))
  return names.size === wide.size ? [...wide].map(([name, type]) => ({ name, type })) : undefined
}

function widenIntegers(left: DataType, right: DataType): DataType | undefined {
  const [a, b] = [rangeOf(left), rangeOf(right)]
  if (!a || !b) return undefined
  const min = a.min < b.min ? a.min : b.min
  const max = a.max > b.max ? a.max : b.max
  const name = integerNames.find(
    (each) => integerRanges[each].min <= min && integerRanges[each].max >= max,
  )
  return name && scalar(name)
}

function widenDecimals(left: DataType, right: DataType): DataType | undefined {
  const [a, b] = [decimalShape(left), decimalShape(right)]
  if (!a || !b) return undefined
  const scale = Math.max(a.scale, b.scale)
  const width = Math.max(a.width - a.scale, b.width - b.scale) + scale
  return width <= 38 ? { kind: 'decimal', width, scale } : undefined
}

function decimalShape(type: DataType): { width: number; scale: number } | undefined {
  if (type.kind === 'decimal') return type
  const range = rangeOf(type)
  return range && { width: String(range.max).length, scale: 0 }
}

/** Integer types that fit into a DOUBLE without rounding. */
const exactInDouble: readonly ScalarName[] = [
  'TINYINT',
  'UTINYINT',
  'SMALLINT',
  'USMALLINT',
  'INTEGER',
  'UINTEGER',
]

function widenOthers(left: DataType, right: DataType): DataType | undefined {
  const names = [left, right].map((type) => (type.kind === 'scalar' ? type.name : type.kind))
  const only = (...allowed: readonly string[]) => names.every((name) => allowed.includes(name))
  if (only('DOUBLE', 'FLOAT', ...exactInDouble)) return scalar('DOUBLE')
  if (only('VARCHAR', 'enum')) return scalar('VARCHAR')
  if (only('TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP')) return scalar('TIMESTAMP')
  return undefined
}

/**
 * The narrowest of types that hold each other's values only in part: the type to serve if every
 * value fits it. Undefined for types of different meaning.
 */
export function narrowest(types: readonly DataType[]): DataType | undefined {
  const integers = types.filter((type) => rangeOf(type))
  const others = types.filter((type) => !rangeOf(type))
  if (integers.length > 0 && others.every(isFloat)) return widenAll(integers)
  const names = types.map((type) => (type.kind === 'scalar' ? type.name : type.kind))
  if (!names.every((name) => (localTimes as readonly string[]).includes(name))) return undefined
  return scalar(names.includes('DATE') ? 'DATE' : 'TIMESTAMP')
}

/** Days, and times without a zone. */
const localTimes = ['DATE', 'TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP', 'TIMESTAMP_NS'] as const

function scalar(name: ScalarName): DataType {
  return { kind: 'scalar', name }
}
