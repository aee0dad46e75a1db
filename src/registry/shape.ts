import Type from 'typebox'
import type { TProperties, TSchema } from 'typebox'
import { Settings } from 'typebox/system'
import { Errors } from 'typebox/value'
import { didYouMean, quoted } from '../text.js'

/** A part of a value that does not have the required shape. */
export interface ShapeProblem {
  /** Keys from the root to the wrong part; for a missing key, to the object that lacks it. */
  readonly path: readonly string[]
  /** `datasets.financials.limt`, or the root's own name. */
  readonly name: string
  readonly message: string
}

/** A problem that a rule beside the schema finds; `key` is missing in the part at `path`. */
export function problemAt(path: readonly string[], message: string, key?: string): ShapeProblem {
  return { path, name: [...path, ...(key === undefined ? [] : [key])].join('.'), message }
}

/** The schema of an object with these keys and no others; `must be` its description. */
export function objectOf<Keys extends TProperties>(description: string, keys: Keys) {
  return Type.Object(keys, { additionalProperties: false, description })
}

interface SchemaNode {
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
  readonly anyOf?: readonly SchemaNode[]
}

/** The message of a key that is like no known one. */
export const unknownKeyText = 'unknown key.'

const rawErrorsMax = 1000
/** A real token may stand here by mistake, and messages go to logs. */
const secretKey = 'token'

/**
 * The mistakes in `value`: unknown keys with the most similar known one, missing keys, and for all
 * others the schema's own `description` after "must be" and the value. Each part has one problem.
 */
export function shapeProblems(
  schema: TSchema,
  value: unknown,
  rootName: string,
  errorsMax = rawErrorsMax,
): readonly ShapeProblem[] {
  const found = new Map<string, ShapeProblem>()
  const add = (path: readonly string[], part: readonly string[], message: string) => {
    const key = part.join('/')
    const name = part.map(shownKey).join('.') || rootName
    if (!found.has(key)) found.set(key, { path, name, message })
  }
  for (const { keyword, instancePath, params } of rawErrors(schema, value, errorsMax)) {
    const path = instancePath.split('/').slice(1).map(unescapePointer)
    switch (keyword) {
      case 'boolean': // the schema allows no value here
        add(path, path, unknownKey(schema as SchemaNode, path))
        break
      case 'additionalProperties': // reported key by key
      case 'anyOf': // reported by the errors of each choice
        break
      case 'required':
        for (const name of params.requiredProperties) add(path, [...path, name], 'is missing.')
        break
      default:
        add(path, path, `must be ${schemaAt(schema as SchemaNode, path)?.description ?? 'valid'}.`)
    }
  }
  const problems = withoutEchoes(withoutOtherChoices([...found.values()], schema as SchemaNode))
  return problems.map((problem) => withValue(problem, value))
}

/** Drops "is not one of the choices" for an object if a problem inside it says more. */
function withoutOtherChoices(
  problems: readonly ShapeProblem[],
  schema: SchemaNode,
): readonly ShapeProblem[] {
  return problems.filter(({ path }) => {
    const isObject = schemaAt(schema, path)?.anyOf?.some(({ properties }) => properties)
    const isAround = (other: ShapeProblem) =>
      other.path.length > path.length && path.every((key, index) => other.path[index] === key)
    return !isObject || !problems.some(isAround)
  })
}

/** A key as it is written; shortened and quoted if it is long or odd. */
function shownKey(key: string): string {
  return /^[\w-]{1,40}$/.test(key) ? key : quoted(key)
}

/** Drops the problem of a list whose element has the same one. */
function withoutEchoes(problems: readonly ShapeProblem[]): readonly ShapeProblem[] {
  const key = (path: readonly string[], message: string) => JSON.stringify([path, message])
  const parents = new Set(
    problems.flatMap(({ path, message }) =>
      path.length === 0 ? [] : [key(path.slice(0, -1), message)],
    ),
  )
  return problems.filter(({ path, message }) => !parents.has(key(path, message)))
}

/** Adds a wrong scalar to its message: `must be a column name, got 5.` */
function withValue(problem: ShapeProblem, root: unknown): ShapeProblem {
  const { path, message } = problem
  if (!message.startsWith('must be ') || path.at(-1) === secretKey) return problem
  const value = path.reduce((part: unknown, key) => recordOf(part)[key], root)
  if (typeof value === 'object' && value !== null) return problem
  const shown = typeof value === 'string' ? quoted(value) : String(value)
  return { ...problem, message: `${message.slice(0, -1)}, got ${shown}.` }
}

/** Lifts TypeBox's process-wide limit of 8 errors during this call. */
function rawErrors(schema: TSchema, value: unknown, errorsMax: number) {
  const { maxErrors } = Settings.Get()
  Settings.Set({ maxErrors: errorsMax })
  try {
    return Errors(schema, value)
  } finally {
    Settings.Set({ maxErrors })
  }
}

function unknownKey(schema: SchemaNode, path: readonly string[]): string {
  const parent = schemaAt(schema, path.slice(0, -1))
  const choices = [parent, ...(parent?.anyOf ?? [])]
  const known = choices.flatMap((choice) => Object.keys(choice?.properties ?? {}))
  return unknownKeyText + didYouMean(path.at(-1) ?? '', known)
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** The schema of the value at `path`, or the nearest schema above it. */
function schemaAt(schema: SchemaNode, path: readonly string[]): SchemaNode | undefined {
  let node: SchemaNode | undefined = schema
  for (const part of path) {
    node = node?.anyOf?.find(({ properties }) => properties) ?? node
    const known: SchemaNode | undefined = Object.hasOwn(node?.properties ?? {}, part)
      ? node?.properties?.[part]
      : undefined
    const next: SchemaNode | undefined =
      known ?? Object.values(node?.patternProperties ?? {})[0] ?? node?.items
    if (!next) return node
    node = next
  }
  return node
}

/** Whether a value of any shape is an object with keys, and not a list. */
export function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The fields of a value of any shape; an empty record if it is not an object. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
