import { randomInt } from 'node:crypto'
import { Command as Parser, CommanderError } from 'commander'

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
const helpColumns = 110

/** A switch, off unless it is given. */
export function toggle(help: string): Option<boolean> {
  return { placeholder: null, help, read: (text) => text !== undefined }
}

/** A whole number in a range. */
export function whole(help: string, fallback: number, min: number, max: number): Option<number> {
  return {
    placeholder: 'N',
    help: `${help} (default ${fallback})`,
    read: (given, flag) =>
      given === undefined ? fallback : wholeNumber(flag, given, { min, max }),
  }
}

/** The seed of a run's choices; another one in every run unless it is given. */
export function seed(help: string): Option<number> {
  return {
    placeholder: 'N',
    help: `${help} (default: random)`,
    read: (given, flag) =>
      given === undefined ? randomInt(seedMax) : wholeNumber(flag, given, { min: 0, max: seedMax }),
  }
}

/** Text with a default. */
export function text(help: string, fallback: string, placeholder = 'F'): Option<string> {
  return {
    placeholder,
    help: `${help} (default ${fallback})`,
    read: (given) => given ?? fallback,
  }
}

/** The one word that a script needs. */
export function operand(placeholder: string, help: string): Option<string> {
  return { placeholder, isOperand: true, help, read: (given) => given ?? '' }
}

/** Text that may be left out. */
export function optionalText(help: string, placeholder = 'F'): Option<string | null> {
  return { placeholder, help, read: (given) => given ?? null }
}

/** Some of a list of names, between commas; all of them by default. */
export function someOf<T extends string>(help: string, names: readonly T[]): Option<readonly T[]> {
  const isOne = (word: string): word is T => names.some((name) => name === word)
  return {
    placeholder: 'A,B',
    help: `${help}, of ${names.join(', ')}`,
    read: (given, flag) => {
      const words = given?.split(',') ?? names
      const chosen = words.filter(isOne)
      if (chosen.length === words.length) return chosen
      throw new UsageError(`${flag} must be of ${names.join(', ')}, got "${given}"`)
    },
  }
}

/**
 * The values of a command line; null where it asks for help.
 * @throws UsageError naming the option
 */
export function readOptions<T extends OptionTable>(
  table: T,
  argv: readonly string[],
): OptionValues<T> | null {
  const parser = parserOf({ name: '', usage: '', about: '', options: table })
  try {
    parser.parse(argv, { from: 'user' })
  } catch (cause) {
    if (cause instanceof CommanderError && cause.code === 'commander.helpDisplayed') return null
    const words = cause instanceof Error ? cause.message.replace(/^error: /, '') : String(cause)
    throw new UsageError(words)
  }
  const given = parser.opts<Readonly<Record<string, string | true>>>()
  const values = Object.entries(table).map(([name, option]) => {
    const value = option.isOperand ? parser.args[0] : given[name]
    return [name, option.read(value === true ? '' : value, `--${flagOf(name)}`)]
  })
  // Each value is what the option of its name reads.
  return Object.fromEntries(values) as OptionValues<T>
}

/** The text of `--help`. */
export function helpText(command: Command<OptionTable>): string {
  const { footer } = command
  return parserOf(command).helpInformation() + (footer === undefined ? '' : `\n${footer}\n`)
}

function parserOf({ usage, about, options }: Command<OptionTable>): Parser {
  const silent = { writeOut: () => undefined, writeErr: () => undefined }
  const parser = new Parser(usage)
    .usage('[options]')
    .description(about)
    .exitOverride()
    .configureOutput(silent)
    .configureHelp({ helpWidth: helpColumns })
  for (const [name, { placeholder, isOperand, help }] of Object.entries(options)) {
    const value = placeholder === null ? '' : ` <${placeholder}>`
    if (isOperand) parser.argument(value.trim(), help)
    else parser.option(`--${flagOf(name)}${value}`, help)
  }
  return parser
}

function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function wholeNumber(
  flag: string,
  given: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const number = Number(given)
  if (/^\d+$/.test(given) && number >= min && number <= max) return number
  throw new UsageError(`${flag} must be a whole number from ${min} to ${max}, got "${given}"`)
}
