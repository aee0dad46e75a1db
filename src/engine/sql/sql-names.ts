/** Gives each distinct expression of a level of the statement a name, once. */
export class SqlNames {
  readonly #prefix: string
  readonly #names = new Map<string, string>()

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  of(expression: string): string {
    const name = this.#names.get(expression) ?? `${this.#prefix}${this.#names.size}`
    this.#names.set(expression, name)
    return name
  }

  /** `expression AS name`, for each. */
  get list(): readonly string[] {
    return [...this.#names].map(([expression, name]) => `${expression} AS ${name}`)
  }
}
