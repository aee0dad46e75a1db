import type Type from 'typebox'
import { Compile } from 'typebox/compile'
import { badRequest } from '../errors.js'
import { shapeProblems } from '../registry/shape.js'

/** Enough for all errors at the first wrong place; only that place is reported. */
const errorsMax = 50

/**
 * Returns a reader that checks values against this schema; `name` is the name of the whole value in
 * messages. Its errors give the nearest right key, or the schema's own description.
 */
export function shapeReader<T extends Type.TSchema>(
  schema: T,
  name: string,
): (content: unknown) => Type.Static<T> {
  const validator = Compile(schema)
  return (content) => {
    if (validator.Check(content)) return content
    const [problem] = shapeProblems(schema, content, name, errorsMax)
    throw badRequest(`${problem?.name ?? name}: ${problem?.message ?? 'is malformed.'}`)
  }
}

/** The object without members that are null, an empty text or an empty list; else the value. */
export function withoutEmpty(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content
  const isEmpty = (value: unknown) =>
    value === null || value === '' || (Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries(content).filter(([, value]) => !isEmpty(value)))
}
