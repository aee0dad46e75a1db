import { isOnOffer } from '../offer.js'
import type { Offer } from '../offer.js'
import { html } from '../../../portal/html.js'
import type { Html } from '../../../portal/html.js'
import type { PageContext } from '../../../portal/page-context.js'
import type { PlanWay } from '../../../portal/plans.js'
import type { ShownPlan } from '../../../service/showcase.js'
import { shopWordsOf } from './shop-words.js'

/** How to get the plans of a dataset: a button, the owner's address, or nothing at all. */
export function planWay(context: PageContext, offer: Offer, dataset: string): PlanWay | null {
  const { free, paid, contact } = offer
  if (!free && !paid && contact === null) return null
  const say = shopWordsOf(context.language)
  const addressOf = ({ name }: ShownPlan, months: Readonly<Record<string, string>> = {}) => {
    const address = context.link('/order')
    const mark = address.includes('?') ? '&' : '?'
    return `${address}${mark}${new URLSearchParams({ plan: `${dataset}:${name}`, ...months })}`
  }
  return {
    heading: say.getPlan,
    of: (plan) => {
      if (!isOnOffer(offer, plan.monthRub)) return contact === null ? null : contactLink(contact)
      const text = plan.monthRub === 0 ? say.freeButton : say.orderButton
      return html`<a class="button" href="${addressOf(plan)}">${text}</a>`
    },
    priced: (plan, months, price) => {
      if (plan.monthRub === 0 || !isOnOffer(offer, plan.monthRub)) return price
      return html`<a href="${addressOf(plan, { months: String(months) })}">${price}</a>`
    },
  }
}

/** A link to write to the owner. */
export function contactLink(contact: string): Html {
  return html`<a href="mailto:${contact}">${contact}</a>`
}
