import Type from 'typebox'
import type { Static } from 'typebox'
import type { LocalText } from './local-text.js'
import { objectOf, problemAt, recordOf } from './shape.js'
import type { ShapeProblem } from './shape.js'

const flag = Type.Boolean({ description: 'true or false' })
const paymentText = Type.String({ minLength: 1, maxLength: 4000 })

/** How visitors of the portal order: `shop:` in registry.yaml. */
export const ShopSchema = objectOf('an object {free, paid, terms, contact, payment}', {
  free: Type.Optional(flag),
  paid: Type.Optional(flag),
  terms: Type.Optional(Type.Refine(Type.String({ description: 'an https address' }), isWebAddress)),
  contact: Type.Optional(
    Type.String({ pattern: '^[^\\s@]+@[^\\s@]+$', description: 'an e-mail address' }),
  ),
  payment: Type.Optional(
    Type.Union(
      [
        paymentText,
        Type.Object({ en: paymentText, ru: paymentText }, { additionalProperties: false }),
      ],
      { description: 'a text, or an object {en, ru}' },
    ),
  ),
})

/** What visitors may order, and what the pages and letters say of it. */
export interface ShopSettings {
  /** Plans without a price start at once. */
  readonly free: boolean
  /** Plans with a price are ordered, and start when they are paid. */
  readonly paid: boolean
  readonly terms: string | null
  /** The owner's address: shown to visitors, and told of new orders. */
  readonly contact: string | null
  /** How to pay, with `{order}` and `{amount}`. */
  readonly payment: LocalText | null
}

/** The settings of a checked registry; everything is off where it says nothing. */
export function shopSettings(shop: Static<typeof ShopSchema> = {}): ShopSettings {
  const { free = false, paid = false, terms = null, contact = null, payment = null } = shop
  return Object.freeze({ free, paid, terms, contact, payment })
}

const placeholders = ['{order}', '{amount}'] as const

/** The keys that paid plans need. */
const paidNeeds = {
  contact: 'needs the address that is told of orders: add "contact: EMAIL".',
  payment: 'needs a text that says how to pay: add "payment: TEXT".',
}

/** What the schema can't say of the shop. The content may have any shape. */
export function shopProblems(content: unknown): readonly ShapeProblem[] {
  const shop = recordOf(recordOf(content)['shop'])
  const needed = shop['paid'] === true ? Object.entries(paidNeeds) : []
  const missing = needed.filter(([key]) => shop[key] === undefined)
  return [
    ...missing.map(([, message]) => problemAt(['shop', 'paid'], message)),
    ...paymentTexts(shop['payment']).flatMap(([path, text]) => placeholderProblems(path, text)),
  ]
}

function paymentTexts(payment: unknown): readonly (readonly [path: string[], text: string])[] {
  if (typeof payment === 'string') return [[['shop', 'payment'], payment]]
  return Object.entries(recordOf(payment)).flatMap(([language, text]) =>
    typeof text === 'string' ? [[['shop', 'payment', language], text] as const] : [],
  )
}

function placeholderProblems(path: readonly string[], text: string): readonly ShapeProblem[] {
  return placeholders
    .filter((each) => !text.includes(each))
    .map((each) => problemAt(path, `the text must contain ${each}.`))
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text)
}
