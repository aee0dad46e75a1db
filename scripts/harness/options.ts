import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** One option of a script. */
export interface Option<T> {
  /** The name of its value in the help; null = a switch. */
  readonly placeholder: string | null
  /** It is a word of its own, without a flag before it. */
  readonly isOperand?: true
  readonly help: string
  /** Reads its text, which is undefined where the option is not given. */
  readonly read: (text: string | undefined, flag: string) => T
}

/** The options of a script by their names, `secondsMax` for `--seconds-max`. */
export type OptionTable = Readonly<Record<string, Option<unknown>>>

/** The values of a table of options. */
export type OptionValues<T extends OptionTable> = {
  readonly [Name in keyof T]: T[Name] extends Option<infer Value> ? Value : never
}

/** What a script says about itself, and takes. */
export interface Command<T extends OptionTable> {
  readonly name: string
  /** Without the options. */
  readonly usage: string
  readonly about: string
  readonly options: T
  /** Text below the options. */
  readonly footer?: string
}

const seedMax = 2 ** 32 - 1

/** A switch, off unless it is given. */
export function toggle(help: string): Option<boolean> {
  return { placeholder: null, help, read: (text) => text !== undefined }
}

/** A whole number in a range; it is required where there is no default. */
export function whole(
  help: string,
  fallback: number | null,
  min: number,
  max: number,
): Option<number> {
  return withDefault(help, 'N', fallback, (given, flag) => wholeNumber(flag, given, min, max))
}

/** The seed of a run's choices; another one in every run unless it is given. */
export function seed(help: string): Option<number> {
  return {
    placeholder: 'N',
    help: `${help} (default: random)`,
    read: (text, flag) =>
      text === undefined ? randomInt(seedMax) : wholeNumber(flag, text, 0, seedMax),
  }
}

/** Text; it is required where there is no default. */
export function text(help: string, fallback: string | null, placeholder = 'F'): Option<string> {
  return withDefault(help, placeholder, fallback, (given) => given)
}

/** The one word that a script needs. */
export function operand(placeholder: string, help: string): Option<string> {
  return { ...text(help, null, placeholder), isOperand: true }
}

/** Text that may be left out. */
export function optionalText(help: string, placeholder = 'F'): Option<string | null> {
  return { placeholder, help, read: (given) => given ?? null }
}

/**
 * The values of a command line; null where it asks for help.
 * @throws UsageError naming the option
 */
export function readOptions<T extends OptionTable>(
  table: T,
  argv: readonly string[],
): OptionValues<T> | null {
  const given = parse(table, argv)
  if (given['help'] === true) return null
  const values = Object.entries(table).map(([name, option]) => {
    const value = given[flagOf(name)]
    const label = option.isOperand ? `${option.placeholder}` : `--${flagOf(name)}`
    return [name, option.read(typeof value === 'boolean' ? '' : value, label)]
  })
  // Each value is what the option of its name reads.
  return Object.fromEntries(values) as OptionValues<T>
}

/** The text of `--help`. */
export function helpText({ usage, about, options, footer }: Command<OptionTable>): string {
  const rows = [
    ...Object.entries(options).map(([name, { placeholder, isOperand, help }]) => {
      const words = [...(isOperand ? [] : [`--${flagOf(name)}`]), placeholder ?? '']
      return [words.join(' '), help]
    }),
    ['--help', 'this text'],
  ]
  const width = Math.max(...rows.map(([words = '']) => words.length))
  const lines = rows.map(([words = '', help = '']) => `  ${words.padEnd(width)}  ${help}\n`)
  const below = footer === undefined ? '' : `\n${footer}\n`
  return `Usage: ${usage} [options]\n\n${about}\n\n${lines.join('')}${below}`
}

function withDefault<T>(
  help: string,
  placeholder: string,
  fallback: T | null,
  read: (given: string, flag: string) => T,
): Option<T> {
  return {
    placeholder,
    help: fallback === null ? `${help} (required)` : `${help} (default ${fallback})`,
    read: (given, flag) => {
      if (given !== undefined) return read(given, flag)
      if (fallback === null) throw new UsageError(`${flag} is required; see --help`)
      return fallback
    },
  }
}

function parse(table: OptionTable, argv: readonly string[]) {
  const entries = Object.entries(table)
  const isSwitch = (option: Option<unknown>) => option.placeholder === null
  const flags = entries.filter(([, { isOperand }]) => !isOperand)
  const operands = entries.filter(([, { isOperand }]) => isOperand)
  const options: Record<string, { type: 'boolean' | 'string' }> = { help: { type: 'boolean' } }
  for (const [name, option] of flags) {
    options[flagOf(name)] = { type: isSwitch(option) ? 'boolean' : 'string' }
  }
  try {
    const allowPositionals = operands.length > 0
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals })
    if (positionals.length > operands.length) {
      throw new Error(`unexpected word ${positionals.at(-1)}`)
    }
    const words = operands.map(([name], at) => [flagOf(name), positionals[at]] as const)
    return { ...values, ...Object.fromEntries(words) }
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause))
  }
}

function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function wholeNumber(flag: string, given: string, min: number, max: number): number {
  const number = Number(given)
  if (/^\d+$/.test(given) && number >= min && number <= max) return number
  throw new UsageError(`${flag} must be a whole number from ${min} to ${max}, got "${given}"`)
}
