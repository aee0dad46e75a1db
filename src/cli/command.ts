import type { Command } from 'commander'
import { readConfig, settings } from '../config.js'
import type { Config } from '../config.js'
import { badRequest } from '../errors.js'
import type { CliParts } from './parts.js'
import { printJson, printLines } from './print.js'

export type SettingName = keyof typeof settings

/** Parsed options: the settings by name, and the options of the command. */
export type Flags = Readonly<Record<string, unknown>> & {
  readonly json?: boolean
  readonly csv?: boolean
}

interface CommandDefinition {
  /** Name and arguments in commander's syntax: `show <id>`. */
  readonly usage: string
  readonly description: string
  /** Adds the options that only this command has. */
  readonly options?: (command: Command) => unknown
  /** The settings that the command reads; each becomes a flag. */
  readonly settings: readonly SettingName[]
  readonly json: string
  /** Complete command lines. */
  readonly examples: readonly string[]
}

/** Adds a command with the flags of its settings, `--json`, and examples in its help. */
export function addCommand(parent: Command, definition: CommandDefinition): Command {
  const command = parent.command(definition.usage).description(definition.description)
  definition.options?.(command)
  for (const name of definition.settings) {
    if (settings[name].flag === null) continue
    const { flag, variable, default: value, help } = settings[name]
    const origin = value ? `${variable}, default ${value}` : variable
    command.option(`${flag} <value>`, `${help} (${origin})`)
  }
  command.option('--json', definition.json)
  command.addHelpText('after', secretText(definition.settings))
  command.addHelpText('after', exampleText(definition.examples))
  return command
}

/** What a command prints: `json` with `--json`, `csv` with `--csv`, else `lines`. */
export interface Result {
  readonly json: unknown
  readonly lines: readonly string[]
  readonly csv?: readonly string[]
  /** Why the command fails although it has something to print. */
  readonly failure?: Error | undefined
}

type Argument = string | undefined

/**
 * Adds a command that prints the result of `run`, which gets the settings, the options and the
 * arguments.
 */
export function addPrinted<
  Name extends SettingName,
  Options extends Flags,
  Arguments extends readonly Argument[],
>(
  parent: Command,
  parts: CliParts,
  definition: CommandDefinition & {
    readonly settings: readonly Name[]
    readonly run: (
      config: Pick<Config, Name>,
      flags: Options,
      ...args: Arguments
    ) => Promise<Result>
  },
): void {
  const { settings: names, run } = definition
  addCommand(parent, definition).action(async (...given: readonly unknown[]) => {
    // Commander passes the arguments of the usage line, the options and the command.
    const flags = given.at(-2) as Options
    const args = given.slice(0, -2) as unknown as Arguments
    if (flags.csv && flags.json) throw badRequest('Use --csv or --json, not both.')
    const config = readSettings(names, flags, parts.environment)
    printResult(parts, flags, await run(config, flags, ...args))
  })
}

/** @throws the failure of a result, once it is printed */
export function printResult(
  parts: CliParts,
  flags: Flags & { readonly csv?: boolean },
  { json, lines, csv = lines, failure }: Result,
): void {
  if (flags.json) printJson(parts, json)
  else printLines(parts, ...(flags.csv ? csv : lines))
  if (failure) throw failure
}

/** Help on settings that have only an environment variable, because they are secret. */
function secretText(names: readonly SettingName[]): string {
  // A command of the state folder reads its records from the PostgreSQL, where one is named.
  const implied: readonly SettingName[] = names.includes('state') ? ['controlUrl'] : []
  const all = new Set([...names, ...implied])
  const secrets = [...all].map((name) => settings[name]).filter(({ flag }) => flag === null)
  if (secrets.length === 0) return ''
  return [
    '',
    'Environment:',
    ...secrets.map(({ variable, help }) => `  ${variable}  ${help}`),
  ].join('\n')
}

/** The examples of a help text. */
export function exampleText(examples: readonly string[]): string {
  const title = examples.length === 1 ? 'Example:' : 'Examples:'
  return ['', title, ...examples.map((example) => `  $ ${example}`)].join('\n')
}

/**
 * The settings that a command reads, from its flags and the environment. It ignores variables of
 * other settings, so that a wrong DAS_PORT does not stop `das token list`.
 * @throws bad_request for an invalid value
 */
export function readSettings<Name extends SettingName>(
  names: readonly Name[],
  flags: Flags,
  environment: Readonly<Record<string, string | undefined>>,
): Pick<Config, Name> {
  const variables = names.map((name) => settings[name].variable)
  return readConfig(
    Object.fromEntries(names.map((name) => [name, flags[name]])),
    Object.fromEntries(variables.map((variable) => [variable, environment[variable]])),
  )
}

/** Adds a command that has only subcommands, with an example in its help. */
export function addGroup(
  parent: Command,
  name: string,
  description: string,
  example: string,
): Command {
  return parent
    .command(name)
    .description(description)
    .addHelpText('after', exampleText([example]))
}

/** Collects the values of a repeated option. */
export function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value]
}
