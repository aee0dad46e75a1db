import { isInn } from '../../columns/tax-number.js'
import type { Buyer } from '../../control/orders.js'
import { plainText } from '../../plain-text.js'
import { ShopRefusal } from './refusals.js'

/** The fields of a company on the form of an order, as they were typed. */
export type TypedBuyer = Readonly<Record<keyof Buyer, string>>

const lettersMax = 500

/**
 * The company that an order is for; null where every field is empty. A company has a name and an
 * INN; a KPP has 9 digits.
 *
 * @throws ShopRefusal
 */
export function checkedBuyer(typed: TypedBuyer): Buyer | null {
  const name = plainText(typed.name)
  const address = plainText(typed.address)
  const [inn, kpp] = [typed.inn, typed.kpp].map((digits) => digits.replaceAll(/[\s\p{Cf}]/gu, ''))
  if ([name, address, inn, kpp].every((text) => text === '')) return null
  const isKpp = kpp === '' || /^\d{9}$/.test(kpp ?? '')
  const isShort = Math.max(name.length, address.length) <= lettersMax
  if (name === '' || !isInn(inn ?? '') || !isKpp || !isShort) throw new ShopRefusal('company')
  return { name, inn: inn ?? '', kpp: kpp || null, address: address || null }
}
