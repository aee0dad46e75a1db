import type { ShownDataset } from '../../../service/showcase.js'
import { yearMonths, yearMonthsPaid } from '../../../registry/price.js'
import { html } from '../../../portal/html.js'
import type { Html } from '../../../portal/html.js'
import type { PageContext } from '../../../portal/page-context.js'
import type { Quote } from '../new-order.js'
import { paperWords } from '../papers/paper-words.js'
import { vatKopecks } from '../papers/vat.js'
import { shopWordsOf } from './shop-words.js'

/** What is ordered: plans with their prices, months, company, the total and the VAT in it. */
export function orderSummary(
  context: PageContext,
  datasets: readonly ShownDataset[],
  { items, months, amountRub, buyer }: Quote,
): Html {
  const { words, language, portal } = context
  const say = shopWordsOf(language)
  const lines = items.map(({ dataset, plan }) => {
    const shown = datasets.find(({ name }) => name === dataset)
    const { monthRub, title } = shown?.plans.find(({ name }) => name === plan) ?? {}
    const price = monthRub ? `, ${say.aMonth(words.roubles(monthRub))}` : ''
    return `${say.plan(shown?.title ?? dataset, title ?? plan)}${price}`
  })
  const free = Math.floor(months / yearMonths) * (yearMonths - yearMonthsPaid)
  const paid = amountRub > 0 && free > 0 ? `, ${say.paidMonths(months - free)}` : ''
  const total = amountRub === 0 ? words.free : words.roubles(amountRub)
  const papers = paperWords(language)
  const percent = portal.legal?.vatPercent ?? null
  const vat =
    percent === null || amountRub === 0
      ? null
      : html` ${papers.vat(percent, papers.kopecks(vatKopecks(amountRub, percent)))}`
  return html`<h2>${say.yourOrder}</h2>
    <ul>
      ${lines.map((line) => html`<li>${line}</li>`)}
      <li>${say.months}: ${say.monthsText(months)}${paid}</li>
      ${buyer && html`<li>${say.company}: ${buyer.name}, ${words.inn(buyer.inn)}</li>`}
      <li>${say.total}: <strong>${total}</strong>.${vat}</li>
    </ul>`
}
