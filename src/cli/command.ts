import type { Command } from 'commander'
import { readConfig, settings } from '../config.js'
import type { Config } from '../config.js'

export type SettingName = keyof typeof settings

/** What commander read: settings by their name, and the command's own options. */
export type Flags = Readonly<Record<string, unknown>> & { readonly json?: boolean }

interface CommandDefinition {
  /** With its arguments, as commander takes them: `show <id>`. */
  readonly usage: string
  readonly description: string
  /** Adds the options of this command alone. */
  readonly options?: (command: Command) => unknown
  /** The settings that the command reads, each a flag. */
  readonly settings: readonly SettingName[]
  readonly json: string
  /** Whole command lines. */
  readonly examples: readonly string[]
}

/** Adds a command with its settings' flags, `--json`, and examples in its help. */
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

/** Settings that come from the environment only. */
function secretText(names: readonly SettingName[]): string {
  const secrets = names.map((name) => settings[name]).filter(({ flag }) => flag === null)
  if (secrets.length === 0) return ''
  return [
    '',
    'Environment:',
    ...secrets.map(({ variable, help }) => `  ${variable}  ${help}`),
  ].join('\n')
}

/** The part of a help page that shows whole command lines. */
export function exampleText(examples: readonly string[]): string {
  const title = examples.length === 1 ? 'Example:' : 'Examples:'
  return ['', title, ...examples.map((example) => `  $ ${example}`)].join('\n')
}

/**
 * The settings that a command reads, from its flags and the environment. Variables of other
 * settings are not looked at: a wrong DAS_PORT is no concern of a list of tokens.
 * @throws bad_request for a value that can't be read
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

/** Adds a command that only holds others, with an example in its help. */
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

/** Collects an option that may be given several times. */
export function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value]
}
