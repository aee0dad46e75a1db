/** A value in a footer: whole numbers are bigints, texts are bytes, and fields have numbers. */
export type ThriftValue = bigint | boolean | Buffer | readonly ThriftValue[] | ThriftFields
export type ThriftFields = ReadonlyMap<number, ThriftValue>

/** The types of the compact protocol of Apache Thrift, which Parquet's footers are written in. */
const type = { yes: 1, no: 2, byte: 3, long: 6, double: 7, bytes: 8, list: 9, set: 10, map: 11 }

/**
 * Reads the compact protocol from the first byte on. A list can be read value by value, because a
 * footer has millions of them.
 * @throws RangeError if the bytes end before the value
 */
export class ThriftReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** The fields of a structure; `read` takes the value of one and is true, or leaves it. */
  fields(read: (field: number) => boolean = () => false): ThriftFields {
    const fields = new Map<number, ThriftValue>()
    for (let field = 0; ;) {
      const head = this.#byte()
      if (head === 0) return fields
      field = head >> 4 === 0 ? Number(this.#number()) : field + (head >> 4)
      if (!read(field)) fields.set(field, this.#value(head & 0x0f))
    }
  }

  *values(): Generator<ThriftValue, void> {
    const head = this.#byte()
    const length = head >> 4 === 0x0f ? Number(this.#digits()) : head >> 4
    for (let at = 0; at < length; at += 1) yield this.#element(head & 0x0f)
  }

  /** A value of a list or map, where a truth value has a byte of its own. */
  #element(kind: number): ThriftValue {
    return kind <= type.no ? this.#byte() === type.yes : this.#value(kind)
  }

  #value(kind: number): ThriftValue {
    if (kind <= type.no) return kind === type.yes
    if (kind === type.byte) return BigInt(this.#byte())
    if (kind <= type.long) return this.#number()
    if (kind === type.double) return this.#take(8)
    if (kind === type.bytes) return this.#take(Number(this.#digits()))
    if (kind === type.list || kind === type.set) return [...this.values()]
    if (kind !== type.map) return this.fields()
    const pairs = Number(this.#digits())
    const kinds = pairs === 0 ? 0 : this.#byte()
    const values: ThriftValue[] = []
    for (let pair = 0; pair < pairs; pair += 1) {
      values.push(this.#element(kinds >> 4), this.#element(kinds & 0x0f))
    }
    return values
  }

  #byte(): number {
    return this.#take(1)[0] ?? 0
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError('the footer is cut')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  /** Seven bits a byte, the lowest ones first. */
  #digits(): bigint {
    let number = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#byte()
      number |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return number
    }
  }

  /** Signs alternate: 0, -1, 1, -2, … */
  #number(): bigint {
    const digits = this.#digits()
    return (digits & 1n) === 0n ? digits >> 1n : -(digits >> 1n) - 1n
  }
}
