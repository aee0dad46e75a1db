import Type from 'typebox'
import { Check } from 'typebox/value'
import { badRequest } from '../../errors.js'

const text = Type.String({ maxLength: 200 })
const months = Type.Integer()
const plans = Type.Array(Type.Object({ dataset: text, plan: text }), { maxItems: 50 })
const shown = Type.Object({ amount_rub: Type.Integer({ minimum: 0 }) })

const RenewalSchema = Type.Object({ kind: Type.Literal('renew'), months })
const ChangeSchema = Type.Object({ kind: Type.Literal('change'), plans })

/** What the page asks a price for. */
export const WantedSchema = Type.Union([RenewalSchema, ChangeSchema])

/** What the page orders, at the price that it showed. */
export const OrderSchema = Type.Intersect([WantedSchema, shown])

/** A code as it was typed. */
export const TypedCodeSchema = Type.Object({
  code_id: text,
  code: text,
  end_earlier: Type.Boolean(),
})

/** @throws bad_request for what the page does not send */
export function readJson<Schema extends Type.TSchema>(
  schema: Schema,
  body: Buffer,
): Type.Static<Schema> {
  const content = parsed(body.toString('utf8'))
  if (Check(schema, content)) return content
  throw badRequest('The body is not what the account page sends.')
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}
