import type { TSchema } from 'typebox'
import { Errors } from 'typebox/value'
import { didYouMean } from './nearest.js'

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

/**
 * What is wrong with `value`, in words: unknown keys with the nearest known one, missing keys, and
 * for everything else the schema's own `description` after "must be".
 */
export function shapeProblems(
  schema: TSchema,
  value: unknown,
  rootName: string,
): readonly ShapeProblem[] {
  const found = new Map<string, ShapeProblem>()
  const add = (path: readonly string[], place: readonly string[], message: string) => {
    const name = place.join('.') || rootName
    if (!found.has(name)) found.set(name, { path, name, message })
  }
  for (const error of Errors(schema, value)) {
    if (error.keyword === 'boolean' || error.keyword === 'anyOf') continue
    const path = error.instancePath.split('/').slice(1).map(unescapePointer)
    const node = schemaAt(schema as SchemaNode, path)
    const names = error.params as Readonly<Record<string, readonly string[] | undefined>>
    const [unknown, missing] = [names['additionalProperties'], names['requiredProperties']]
    for (const name of unknown ?? []) {
      const near = didYouMean(name, Object.keys(node?.properties ?? {}))
      add([...path, name], [...path, name], `unknown key.${near}`)
    }
    for (const name of missing ?? []) add(path, [...path, name], 'is missing.')
    if (!unknown && !missing) add(path, path, `must be ${node?.description ?? 'valid'}.`)
  }
  return [...found.values()]
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
