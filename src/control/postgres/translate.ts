import type { Values } from '../store/values.js'

/** A statement of the control store in the words of PostgreSQL. */
export interface Translated {
  /** Names the prepared statement on every connection. */
  readonly name: string
  readonly text: string
  /** The names of `$1`, `$2` and so on. */
  readonly parameters: readonly string[]
}

/** What has no text that both databases take; everything else is written once for both. */
const rules: readonly (readonly [RegExp, string])[] = [
  // An unquoted name loses its capitals.
  [/\bAS ([a-z]+[A-Z]\w*)/g, 'AS "$1"'],
  // SQLite's column is COLLATE NOCASE: ASCII letters are equal without case, as in lower() by "C".
  [/((?:\b\w+\.)?\bemail) = @email\b/g, 'lower($1) = lower(CAST(@email AS TEXT) COLLATE "C")'],
  [/\bON CONFLICT \(email\)/g, 'ON CONFLICT (lower(email))'],
]

/** Far more than there are statements: more means that SQL text is built at run time. */
const statementsMax = 400

/** Translates each statement once. */
export class Translator {
  readonly #known = new Map<string, Translated>()

  /** @throws Error when SQL text is built at run time */
  translate(sql: string): Translated {
    const known = this.#known.get(sql)
    if (known !== undefined) return known
    if (this.#known.size >= statementsMax) {
      throw new Error(`More than ${statementsMax} statements: SQL text must be constant`)
    }
    const translated = { name: `das${this.#known.size + 1}`, ...translate(sql) }
    this.#known.set(sql, translated)
    return translated
  }
}

/** `@name` becomes `$n`, and the rules are applied. */
function translate(sql: string): Omit<Translated, 'name'> {
  const ruled = rules.reduce((text, [pattern, word]) => text.replaceAll(pattern, word), sql)
  const parameters: string[] = []
  const text = ruled.replace(/@([a-z]\w*)/gi, (_match, name: string) => {
    if (!parameters.includes(name)) parameters.push(name)
    return `$${parameters.indexOf(name) + 1}`
  })
  return { text, parameters }
}

/** The values in the order of the parameters. @throws RangeError when one is missing */
export function ordered(parameters: readonly string[], values: Values): Values[string][] {
  return parameters.map((name) => {
    const value = values[name]
    if (value === undefined) throw new RangeError(`missing named parameter "${name}"`)
    return value
  })
}
