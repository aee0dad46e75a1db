import { isInn, isKpp } from '../../columns/tax-number.js'
import type { Buyer } from '../../control/orders.js'
import { compactNumber, plainText } from '../../plain-text.js'
import { ShopRefusal } from './refusals.js'

/** The fields of a company on the form of an order, as they were typed. */
export type TypedBuyer = Readonly<Record<keyof Buyer, string>>

const lettersMax = 500
const companyInnDigits = 10

/**
 * The company that an order is for; null where every field is empty. A company has a name and an
 * INN, and may have a KPP; an entrepreneur, whose INN is longer, has none.
 *
 * @throws ShopRefusal
 */
export function checkedBuyer(typed: TypedBuyer): Buyer | null {
  const [name, address] = [textOf(typed.name), textOf(typed.address)]
  const [inn, kpp] = [compactNumber(typed.inn), latin(compactNumber(typed.kpp))]
  if ([name, address, inn, kpp].every((text) => text === '')) return null
  const isKppRight = kpp === '' || (isKpp(kpp) && inn.length === companyInnDigits)
  const isShort = Math.max(name.length, address.length) <= lettersMax
  const isNamed = /[\p{L}\p{N}]/u.test(name)
  if (!isNamed || !isInn(inn) || !isKppRight || !isShort) throw new ShopRefusal('company')
  return { name, inn, kpp: kpp || null, address: address || null }
}

/** A text on one line, without letters that nobody sees. */
function textOf(typed: string): string {
  return plainText(typed.replaceAll(/\p{DI}/gu, '')).replaceAll(/\s+/g, ' ')
}

/** The letters of a Russian keyboard that look like Latin ones, as those. */
function latin(text: string): string {
  const [russian, same] = ['АВЕКМНОРСТУХ', 'ABEKMHOPCTYX']
  return text.replaceAll(/[АВЕКМНОРСТУХ]/g, (letter) => same[russian.indexOf(letter)] ?? letter)
}
