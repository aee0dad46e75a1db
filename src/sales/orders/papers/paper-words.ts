import type { Language } from '../../../config.js'
import type { OrderKind } from '../../../control/orders.js'
import { pluralChooser } from '../../../wording.js'

/** The texts of invoices and receipts in one language. */
export interface PaperWords {
  readonly invoiceTitle: (orderId: string, at: number) => string
  readonly receiptTitle: (number: string, at: number) => string
  readonly seller: string
  readonly buyer: string
  readonly what: string
  readonly amount: string
  readonly inn: (digits: string) => string
  readonly kpp: (digits: string) => string
  readonly plan: (title: string, plan: string) => string
  readonly subject: (
    service: string,
    kind: OrderKind,
    plans: string,
    months: number | null,
  ) => string
  readonly total: (amount: string) => string
  readonly noVat: string
  readonly vat: (percent: number, amount: string) => string
  readonly payUntil: (at: number) => string
  readonly paid: (orderId: string) => string
  /** As `3,900.00 ₽`. */
  readonly kopecks: (amount: bigint) => string
}

const movedTerm = 'with a month of all plans from the confirmation, less what is unused'
const russianMovedTerm = 'с месяцем всех тарифов со дня подтверждения за вычетом неиспользованного'

const english: PaperWords = {
  invoiceTitle: (orderId, at) => `Invoice ${orderId} of ${dayIn('en-GB', at)}`,
  receiptTitle: (number, at) => `Receipt ${number} of ${dayIn('en-GB', at)}`,
  seller: 'Seller',
  buyer: 'Buyer',
  what: 'What',
  amount: 'Amount',
  inn: (digits) => `INN ${digits}`,
  kpp: (digits) => `KPP ${digits}`,
  plan: (title, plan) => `${title}: plan ${plan}`,
  subject: (service, kind, plans, months) => {
    if (kind === 'change') {
      const time = months === null ? 'until the end of the paid term' : movedTerm
      return `Change of plans, ${service} (${plans}), ${time}`
    }
    return `Access to data, ${service} (${plans}), ${months} ${months === 1 ? 'month' : 'months'}`
  },
  total: (amount) => `Total: ${amount}.`,
  noVat: 'No VAT is charged.',
  vat: (percent, amount) => `It includes ${percent}% VAT: ${amount}.`,
  payUntil: (at) => `To be paid by ${dayIn('en-GB', at)}.`,
  paid: (orderId) => `Order ${orderId}. Paid.`,
  kopecks: (amount) => money('en', amount),
}

const plural = pluralChooser('ru')
const monthForms = { one: 'месяц', few: 'месяца', other: 'месяцев' }

const russian: PaperWords = {
  invoiceTitle: (orderId, at) => `Счёт на оплату № ${orderId} от ${dayIn('ru', at)}`,
  receiptTitle: (number, at) => `Квитанция об оплате № ${number} от ${dayIn('ru', at)}`,
  seller: 'Поставщик',
  buyer: 'Покупатель',
  what: 'Наименование',
  amount: 'Сумма',
  inn: (digits) => `ИНН ${digits}`,
  kpp: (digits) => `КПП ${digits}`,
  plan: (title, plan) => `${title}: тариф ${plan}`,
  subject: (service, kind, plans, months) => {
    if (kind === 'change') {
      const time = months === null ? 'до конца оплаченного срока' : russianMovedTerm
      return `Смена тарифов, ${service} (${plans}), ${time}`
    }
    return `Доступ к данным, ${service} (${plans}), ${months} ${plural(months ?? 0, monthForms)}`
  },
  total: (amount) => `Итого: ${amount}.`,
  noVat: 'Без НДС.',
  vat: (percent, amount) => `В том числе НДС ${percent}\u00a0%: ${amount}.`,
  payUntil: (at) => `Оплатить до ${dayIn('ru', at)}`,
  paid: (orderId) => `Заказ ${orderId}. Оплачено.`,
  kopecks: (amount) => money('ru', amount),
}

/** The texts of invoices and receipts in a language. */
export function paperWords(language: Language): PaperWords {
  return language === 'ru' ? russian : english
}

function dayIn(locale: string, ms: number): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(ms)
}

/** Exact: a sum of kopecks may be beyond 2^53. */
function money(locale: string, kopecks: bigint): string {
  const whole = new Intl.NumberFormat(locale).format(kopecks / 100n)
  const rest = String(kopecks % 100n).padStart(2, '0')
  return `${whole}${locale === 'ru' ? ',' : '.'}${rest}\u00a0₽`
}
