/** A part of the document, such as a schema or a path. */
export type Json = Readonly<Record<string, unknown>>

/** A reference to a component of the document. */
export function refTo(
  kind: 'schemas' | 'parameters' | 'responses' | 'headers',
  name: string,
): Json {
  return { $ref: `#/components/${kind}/${name}` }
}
