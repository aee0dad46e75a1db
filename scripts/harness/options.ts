import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'

/** The command line can't be understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * The values of a command line's flags.
 * @throws UsageError for a flag that these are not, or a word that is none
 */
export function readFlags<const T extends NonNullable<ParseArgsConfig['options']>>(
  argv: readonly string[],
  options: T,
) {
  try {
    return parseArgs({ args: [...argv], options }).values
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause))
  }
}

/**
 * A flag's text as a number.
 * @throws UsageError naming the flag
 */
export function wholeNumber(flag: string, text: string, min: number, max: number): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= min && number <= max) return number
  throw new UsageError(`${flag} is a whole number from ${min} to ${max}, not "${text}"`)
}
