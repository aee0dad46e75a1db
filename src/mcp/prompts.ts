import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { accessibleDatasets } from '../access/access.js'
import { argumentPattern, placeholderPattern } from '../registry/prompt-schema.js'
import type { Prompt } from '../registry/prompt-schema.js'
import type { Caller } from '../service.js'
import { quoted } from '../text.js'

/** Enough for a name or a number; the pattern of an argument reads no longer text. */
const valueLettersMax = 200

type Argument = NonNullable<Prompt['arguments']>[number]

/** The prompts of the registry that this caller can use. */
export function listPrompts(caller: Caller) {
  return {
    prompts: offeredPrompts(caller).map(({ name, title, description, arguments: args = [] }) => ({
      name,
      title,
      description,
      arguments: args.map(({ pattern, required = false, ...argument }) => ({
        ...argument,
        required,
      })),
    })),
  }
}

interface PromptRequest {
  readonly name: string
  readonly arguments?: Readonly<Record<string, string>> | undefined
}

/** A prompt with the caller's arguments in its text. */
export function getPrompt(caller: Caller, { name, arguments: given = {} }: PromptRequest) {
  const offered = offeredPrompts(caller)
  const prompt = offered.find((each) => each.name === name)
  if (!prompt) throw unknownPrompt(name, offered)
  const values = new Map(
    (prompt.arguments ?? []).map((each) => [each.name, checkedValue(each, given[each.name])]),
  )
  const text = prompt.text.replaceAll(
    placeholderPattern,
    (placeholder, argument: string) => values.get(argument) ?? placeholder,
  )
  return {
    description: prompt.description,
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
  }
}

/** The registry's prompts whose datasets the caller can all read, in registry order. */
function offeredPrompts({ principal, catalog }: Caller): readonly Prompt[] {
  const readable = accessibleDatasets(principal, catalog).map(({ dataset }) => dataset.name)
  return catalog.prompts.filter(({ datasets }) => datasets.every((name) => readable.includes(name)))
}

/** The error does not repeat the value: an agent may read it as an instruction. */
function checkedValue({ name, description, required, pattern }: Argument, given = ''): string {
  const value = given.trim()
  if (value === '' && !required) return ''
  const isLine = value !== '' && value.length <= valueLettersMax && !/\p{Cc}/u.test(value)
  if (isLine && (pattern === undefined || argumentPattern(pattern).test(value))) return value
  throw invalid(`The argument ${name} must be ${description}.`)
}

function unknownPrompt(name: string, offered: readonly Prompt[]): ProtocolError {
  const names = offered.map((each) => each.name).join(', ')
  const list = names === '' ? 'There are no prompts for this token.' : `Prompts: ${names}.`
  return invalid(`There is no prompt ${quoted(name)}. ${list}`)
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}
