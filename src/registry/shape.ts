import type { TSchema } from 'typebox'
import { Settings } from 'typebox/system'
import { Errors } from 'typebox/value'
import { didYouMean, quoted } from '../text.js'

/** Something wrong with a value's shape. */
export interface ShapeProblem {
  /** Keys from the root to what is wrong; for a missing key, to the object that lacks it. */
  readonly path: readonly string[]
  /** `datasets.financials.limt`, or the root's own name. */
  readonly name: string
  readonly message: string
}

interface SchemaNode {
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
}

const rawErrorsMax = 1000

/**
 * What is wrong with `value`, in words: unknown keys with the nearest known one, missing keys, and
 * for everything else the schema's own `description` after "must be". A place is named once.
 */
export function shapeProblems(
  schema: TSchema,
  value: unknown,
  rootName: string,
  errorsMax = rawErrorsMax,
): readonly ShapeProblem[] {
  const found = new Map<string, ShapeProblem>()
  const add = (path: readonly string[], place: readonly string[], message: string) => {
    const key = place.join('/')
    const name = place.map(shownKey).join('.') || rootName
    if (!found.has(key)) found.set(key, { path, name, message })
  }
  for (const { keyword, instancePath, params } of rawErrors(schema, value, errorsMax)) {
    const path = instancePath.split('/').slice(1).map(unescapePointer)
    switch (keyword) {
      case 'boolean': // nothing may stand here
        add(path, path, unknownKey(schema as SchemaNode, path))
        break
      case 'additionalProperties': // told key by key
      case 'anyOf': // told by what each choice lacks
        break
      case 'required':
        for (const name of params.requiredProperties) add(path, [...path, name], 'is missing.')
        break
      default:
        add(path, path, `must be ${schemaAt(schema as SchemaNode, path)?.description ?? 'valid'}.`)
    }
  }
  return withoutEchoes([...found.values()])
}

/** A key as it is written, or, where it is long or odd, shortened and in quotes. */
function shownKey(key: string): string {
  return /^[\w-]{1,40}$/.test(key) ? key : quoted(key)
}

/** A list of which one element is wrong is wrong itself: only the element is worth a line. */
function withoutEchoes(problems: readonly ShapeProblem[]): readonly ShapeProblem[] {
  const key = (path: readonly string[], message: string) => JSON.stringify([path, message])
  const parents = new Set(
    problems.flatMap(({ path, message }) =>
      path.length === 0 ? [] : [key(path.slice(0, -1), message)],
    ),
  )
  return problems.filter(({ path, message }) => !parents.has(key(path, message)))
}

/** TypeBox stops at 8 errors, process-wide; the limit is another for the length of this call. */
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
  return `unknown key.${didYouMean(path.at(-1) ?? '', Object.keys(parent?.properties ?? {}))}`
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** The schema of the value at `path`, or the nearest one above it that says anything. */
function schemaAt(schema: SchemaNode, path: readonly string[]): SchemaNode | undefined {
  let node: SchemaNode | undefined = schema
  for (const part of path) {
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

/** The fields of a value that may have any shape; none where it is no object. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
