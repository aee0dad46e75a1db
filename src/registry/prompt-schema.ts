import Type from 'typebox'
import type { Static } from 'typebox'
import { didYouMean, quoted } from '../text.js'
import { objectOf, problemAt, recordOf } from './shape.js'
import type { ShapeProblem } from './shape.js'

const promptsMax = 50
const argumentsMax = 20
const textLettersMax = 20_000

const line = Type.String({ minLength: 1, description: 'a text' })
const name = Type.String({
  pattern: '^[a-z][a-z0-9_]{0,63}$',
  description: '1 to 64 of a-z, 0-9 and "_", a letter first',
})

const ArgumentSchema = objectOf('an object {name, description, required, pattern}', {
  name,
  description: line,
  required: Type.Optional(Type.Boolean({ description: 'true or false' })),
  pattern: Type.Optional(line),
})

const promptShape = 'an object {name, title, description, datasets, arguments, text}'
const PromptSchema = objectOf(promptShape, {
  name,
  title: line,
  description: line,
  datasets: Type.Array(line, { description: 'a list of dataset names' }),
  arguments: Type.Optional(
    Type.Array(ArgumentSchema, {
      maxItems: argumentsMax,
      description: `a list of at most ${argumentsMax} arguments`,
    }),
  ),
  text: Type.String({
    minLength: 1,
    maxLength: textLettersMax,
    description: `a text of at most ${textLettersMax} characters`,
  }),
})

/** The texts that the owner offers to agents over MCP: `prompts:` in registry.yaml. */
export const PromptsSchema = Type.Array(PromptSchema, {
  maxItems: promptsMax,
  description: `a list of at most ${promptsMax} prompts`,
})

/** A prompt is offered to callers that can read all of its `datasets`. */
export type Prompt = Static<typeof PromptSchema>

/** `{inn}` in a prompt's text. Other braces, as in JSON, are plain text. */
export const placeholderPattern = /\{([a-z][a-z0-9_]*)\}/g

/** What the schema can't say of prompts. The content may have any shape. */
export function promptProblems(content: unknown): readonly ShapeProblem[] {
  const { prompts, datasets } = recordOf(content)
  const datasetNames = Object.keys(recordOf(datasets))
  const entries = listOfRecords(prompts)
  return [
    ...repeatedNames(entries, ['prompts'], 'prompt'),
    ...entries.flatMap((prompt, index) => {
      const path = ['prompts', String(index)]
      return [
        ...unknownDatasets(prompt['datasets'], datasetNames, [...path, 'datasets']),
        ...argumentProblems(prompt, path),
      ]
    }),
  ]
}

type Fields = Readonly<Record<string, unknown>>

function listOfRecords(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(recordOf) : []
}

function repeatedNames(
  entries: readonly Fields[],
  path: readonly string[],
  noun: string,
): readonly ShapeProblem[] {
  const names = entries.map(({ name: each }) => each)
  return names.flatMap((each, index) => {
    if (typeof each !== 'string' || names.indexOf(each) === index) return []
    const message = `an earlier ${noun} has the name ${quoted(each)}: give each its own.`
    return [problemAt([...path, String(index), 'name'], message)]
  })
}

function unknownDatasets(
  wanted: unknown,
  known: readonly string[],
  path: readonly string[],
): readonly ShapeProblem[] {
  if (!Array.isArray(wanted)) return []
  return wanted.flatMap((dataset: unknown, index) => {
    if (typeof dataset !== 'string' || known.includes(dataset)) return []
    const message = `there is no dataset ${quoted(dataset)}.${didYouMean(dataset, known)}`
    return [problemAt([...path, String(index)], message)]
  })
}

/** The text and the arguments must agree: a slip in a name would reach agents as `{inm}`. */
function argumentProblems(prompt: Fields, path: readonly string[]): readonly ShapeProblem[] {
  const args = listOfRecords(prompt['arguments'])
  const names = args.map(({ name: each }) => String(each))
  const used = placeholdersIn(prompt['text'])
  const unknown = used.filter((each) => !names.includes(each))
  return [
    ...unknown.map((each) =>
      problemAt([...path, 'text'], `{${each}} is not an argument.${didYouMean(each, names)}`),
    ),
    ...repeatedNames(args, [...path, 'arguments'], 'argument'),
    ...args.flatMap((argument, index) => {
      const place = [...path, 'arguments', String(index)]
      const isUsed = used.includes(String(argument['name']))
      const unused = problemAt(place, `the text does not use {${String(argument['name'])}}.`)
      return [...(isUsed ? [] : [unused]), ...patternProblems(argument['pattern'], place)]
    }),
  ]
}

function placeholdersIn(text: unknown): readonly string[] {
  if (typeof text !== 'string') return []
  return [...new Set([...text.matchAll(placeholderPattern)].map(([, each = '']) => each))]
}

function patternProblems(pattern: unknown, path: readonly string[]): readonly ShapeProblem[] {
  if (typeof pattern !== 'string') return []
  try {
    RegExp(pattern, 'u')
    return []
  } catch (cause) {
    const { message } = cause as SyntaxError
    return [problemAt([...path, 'pattern'], `is not a regular expression (${message}).`)]
  }
}

/** The pattern of an argument, which must match the whole value. */
export function argumentPattern(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`, 'u')
}
