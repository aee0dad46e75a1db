import { correctable } from '../columns/correction.js'
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
  return (given) => {
    const content = readMembers(schema, given)
    if (validator.Check(content)) return content
    const [problem] = shapeProblems(schema, content, name, errorsMax)
    const detail = `${problem?.name ?? name}: ${problem?.message ?? 'is malformed.'}`
    const [key = '', ...inner] = problem?.path ?? []
    if (!problem?.message.startsWith(unknownKeyText) || inner.length > 0) throw badRequest(detail)
    const known = Object.keys(recordOf(recordOf(schema)['properties']))
    const [meant] = nearestNames(key, known)
    if (meant !== undefined) throw correctable(detail, { kind: 'rename', key, meant })
    const instead = asked && insteadOf(key, asked)
    throw instead
      ? correctable(`${detail} ${instead.advice}`, instead.correction)
      : badRequest(known.length === 0 ? detail : `${detail} It takes ${known.join(', ')}.`)
  }
}

/** Whether a member is as good as left out: null, an empty text, an empty list or object. */
export function isAbsent(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/**
 * The object without optional members that are as good as left out, and with texts read as what
 * the schema takes, where that is certain: `"20"` as a number, `"false"` as a truth value, and a
 * number in a list of texts as its digits.
 */
function readMembers(schema: Type.TSchema, content: unknown): unknown {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content
  const { required = [], ...known } = recordOf(schema)
  const properties = recordOf(known['properties'])
  const isOptional = (key: string) =>
    Object.hasOwn(properties, key) && !(required as readonly string[]).includes(key)
  return Object.fromEntries(
    Object.entries(content).flatMap(([key, value]) =>
      isOptional(key) && isAbsent(value) ? [] : [[key, scalarFor(properties[key], value)]],
    ),
  )
}

function scalarFor(schema: unknown, value: unknown): unknown {
  const { type, anyOf = [], items } = recordOf(schema)
  const types = [type, ...(anyOf as readonly unknown[]).map((each) => recordOf(each)['type'])]
  const isNumber = types.includes('integer') && typeof value === 'string' && /^\d{1,9}$/.test(value)
  if (isNumber) return Number(value)
  if (types.includes('boolean') && (value === 'true' || value === 'false')) return value === 'true'
  if (!Array.isArray(value) || recordOf(items)['type'] !== 'string') return value
  return value.map((each: unknown) => (Number.isSafeInteger(each) ? String(each) : each))
}
