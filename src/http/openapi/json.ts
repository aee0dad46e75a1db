/** A part of the document: schemas, paths and all they are made of. */
export type Json = Readonly<Record<string, unknown>>

/** Points to a component of the document. */
export function refTo(
  kind: 'schemas' | 'parameters' | 'responses' | 'headers',
  name: string,
): Json {
  return { $ref: `#/components/${kind}/${name}` }
}
