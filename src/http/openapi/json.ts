/** A part of the document, such as a schema or a path. */
export type Json = Readonly<Record<string, unknown>>

/** A reference to a component of the document. */
export function refTo(
  kind: 'schemas' | 'parameters' | 'responses' | 'headers',
  name: string,
): Json {
  return { $ref: `#/components/${kind}/${name}` }
}

/** References to parameters. */
export function parameterRefs(...names: readonly string[]): readonly Json[] {
  return names.map((name) => refTo('parameters', name))
}

/** Without a format, generated clients read integers as 32 bits and numbers as single precision. */
export const int32: Json = { type: 'integer', format: 'int32' }
export const int64: Json = { type: 'integer', format: 'int64' }
export const double: Json = { type: 'number', format: 'double' }

/** Parameters of the query, each with the name that its component ends with, or its own. */
export function inQuery(
  parameters: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(parameters).map(([component, rest]) => [
      component,
      { name: component.split('.').at(-1), in: 'query', ...rest },
    ]),
  )
}
