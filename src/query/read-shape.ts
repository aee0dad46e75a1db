import type Type from 'typebox'
import { Compile } from 'typebox/compile'
import { badRequest } from '../errors.js'
import { shapeProblems } from '../registry/shape.js'

/** Enough for all that is wrong at the first wrong place, which alone is reported. */
const errorsMax = 50

/**
 * A reader of values that must have this shape; `name` is the whole value's in messages. What the
 * reader refuses it names with the nearest right key, or with the schema's own description.
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
