const firstSize = 1024

/** A list of numbers below 2³² that grows; 4 bytes each. */
export class NumberList {
  #numbers = new Uint32Array(firstSize)
  #length = 0

  get length(): number {
    return this.#length
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = new Uint32Array(2 * this.#length)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers[this.#length++] = number
  }

  /** The numbers so far, without a copy. */
  numbers(): Uint32Array {
    return this.#numbers.subarray(0, this.#length)
  }
}
