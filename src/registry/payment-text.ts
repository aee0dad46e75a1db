import type { Language } from '../config.js'
import { textIn } from './local-text.js'
import type { LocalText } from './local-text.js'

/** How to pay an order, in its language; empty when the registry does not say it. */
export function paymentText(
  payment: LocalText | null,
  language: Language,
  { orderId, amountRub }: { readonly orderId: string; readonly amountRub: number },
): string {
  if (payment === null) return ''
  const values: Readonly<Record<string, string>> = { order: orderId, amount: String(amountRub) }
  return textIn(language, payment).replaceAll(
    /\{(order|amount)\}/g,
    (_, name: string) => values[name] ?? '',
  )
}
