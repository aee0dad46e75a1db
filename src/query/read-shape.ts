import type Type from 'typebox'
import { Compile } from 'typebox/compile'
import { badRequest } from '../errors.js'
import { recordOf, shapeProblems, unknownKeyText } from '../registry/shape.js'
import { nearestNames } from '../text.js'
import { insteadOf } from './common-mistakes.js'
import type { Asked } from './common-mistakes.js'

/** Enough for all errors at the first wrong place; only that place is reported. */
const errorsMax = 50

/**
 * Returns a reader that checks values against this schema; `name` is the name of the whole value in
 * messages. Its errors give the nearest right key, what takes the place of a key of other services,
 * or the schema's own description.
 */
export function shapeReader<T extends Type.TSchema>(
  schema: T,
  name: string,
  asked?: Asked,
): (content: unknown) => Type.Static<T> {
  const validator = Compile(schema)
  return (content) => {
    if (validator.Check(content)) return content
    const [problem] = shapeProblems(schema, content, name, errorsMax)
    const detail = `${problem?.name ?? name}: ${problem?.message ?? 'is malformed.'}`
    const [key = '', ...inner] = problem?.path ?? []
    if (!problem?.message.startsWith(unknownKeyText) || inner.length > 0) throw badRequest(detail)
    const [meant] = nearestNames(key, Object.keys(recordOf(recordOf(schema)['properties'])))
    if (meant !== undefined) throw badRequest(detail, { kind: 'rename', key, meant })
    const instead = asked && insteadOf(key, asked)
    throw instead
      ? badRequest(`${detail} ${instead.advice}`, instead.correction)
      : badRequest(detail)
  }
}

/** The object without members that are null, an empty text or an empty list; else the value. */
export function withoutEmpty(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content
  const isEmpty = (value: unknown) =>
    value === null || value === '' || (Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries(content).filter(([, value]) => !isEmpty(value)))
}
