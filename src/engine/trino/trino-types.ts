import type { DataType, ScalarName, StructField } from '../../columns/data-type.js'

/** The types whose name says all; a type that is missing here is served as text. */
const plainTypes: Readonly<Record<string, ScalarName>> = {
  boolean: 'BOOLEAN',
  tinyint: 'TINYINT',
  smallint: 'SMALLINT',
  integer: 'INTEGER',
  bigint: 'BIGINT',
  real: 'FLOAT',
  double: 'DOUBLE',
  varchar: 'VARCHAR',
  uuid: 'UUID',
  date: 'DATE',
  varbinary: 'BLOB',
  json: 'JSON',
}

/** Types with more digits of a second have values that the product's types can't hold. */
const digitsMax = 6
const zone = ' with time zone'

/**
 * The product's type for a type in Trino's notation. Times of up to six digits have all of them,
 * so that a filter's value is compared in the finest unit.
 */
export function dataTypeOf(text: string): DataType {
  const reader = new TypeReader(text)
  const type = reader.read()
  return reader.isAtEnd ? type : { kind: 'other', name: text }
}

/** Reads one type after the other from a text such as `map(varchar, row(a integer))`. */
class TypeReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length
  }

  read(): DataType {
    const start = this.#at
    const word = this.#take(/[a-z_]+( (day|year) to (second|month))?/iy).toLowerCase()
    if (word === 'array') return this.#within(() => ({ kind: 'list', element: this.read() }))
    if (word === 'map') return this.#within(() => this.#map())
    if (word === 'row') return this.#within(() => ({ kind: 'struct', fields: this.#fields() }))
    const numbers = this.#take(/\(\d+(, ?\d+)?\)/y)
      .slice(1, -1)
      .split(',')
      .map(Number)
    const [first = 0, second = 0] = numbers
    const isZoned = this.#take(/ with time zone/y) === zone
    if (word === 'decimal') return { kind: 'decimal', width: first, scale: second }
    if (word === 'time' && !isZoned && first <= digitsMax) return scalar('TIME')
    if (word === 'timestamp' && first <= digitsMax) {
      return scalar(isZoned ? 'TIMESTAMPTZ' : 'TIMESTAMP')
    }
    const name = plainTypes[word]
    return name ? scalar(name) : { kind: 'other', name: this.#text.slice(start, this.#at) }
  }

  #map(): DataType {
    const key = this.read()
    this.#take(/, ?/y)
    return { kind: 'map', key, value: this.read() }
  }

  #fields(): readonly StructField[] {
    const fields: StructField[] = []
    do {
      const quoted = this.#take(/"([^"]|"")*" /y)
      const plain = quoted === '' ? this.#take(/\w+ (?!with time zone|(day|year) to )/y) : ''
      const name = quoted === '' ? plain.trim() : quoted.slice(1, -2).replaceAll('""', '"')
      fields.push({ name: name || `field${fields.length}`, type: this.read() })
    } while (this.#take(/, ?/y) !== '')
    return fields
  }

  #within(read: () => DataType): DataType {
    this.#take(/\(/y)
    const type = read()
    this.#take(/\)/y)
    return type
  }

  /** Moves on over what the sticky pattern matches here; an empty text if it does not. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const [found = ''] = pattern.exec(this.#text) ?? []
    this.#at += found.length
    return found
  }
}

function scalar(name: ScalarName): DataType {
  return { kind: 'scalar', name }
}
