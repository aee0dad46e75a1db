import type { ShownPlan } from '../service/showcase.js'
import { html } from './html.js'
import type { Html } from './html.js'
import type { PageContext } from './page-context.js'
import type { PortalWords } from './portal-words-en.js'
import { columnHeading } from './shown-value.js'

/** How a visitor gets a plan; null if the page does not say it. */
export interface PlanWay {
  readonly heading: string
  readonly of: (plan: ShownPlan) => Html | null
  /** A price as the link that orders the plan for these months. */
  readonly priced: (plan: ShownPlan, months: number, price: string) => Html | string
}

/** Finds how to get the plans of a dataset; null = there is no way here. */
export type FindPlanWay = (context: PageContext, dataset: string) => PlanWay | null

/** A table of a dataset's plans. `labelId` is the id of the heading that names the table. */
export function plansTable(
  words: PortalWords,
  plans: readonly ShownPlan[],
  labelId: string,
  way: PlanWay | null,
): Html {
  if (plans.length === 0) return html`<p class="muted">${words.noPlans}</p>`
  return html`<div class="wide" role="region" tabindex="0" aria-labelledby="${labelId}">
    <table class="plans">
      <thead>
        <tr>
          <th scope="col">${words.plan}</th>
          <th scope="col" class="number">${words.monthPrice}</th>
          <th scope="col" class="number">${words.yearPrice}</th>
          <th scope="col" class="number">${words.rowsPerMonth}</th>
          <th scope="col">${words.history}</th>
          <th scope="col" class="number">${words.requestsPerMinute}</th>
          ${way && html`<th scope="col">${way.heading}</th>`}
        </tr>
      </thead>
      <tbody>
        ${plans.map((plan) => planRow(words, plan, way))}
      </tbody>
    </table>
  </div>`
}

/** Its title, and its name, by which the API knows it, beside it. */
function planHeading({ name, title }: ShownPlan): Html {
  return columnHeading({ name, label: title === name ? null : title }, null)
}

/** On a phone a plan is a list of facts, each with its label. */
function planRow(words: PortalWords, plan: ShownPlan, way: PlanWay | null): Html {
  const price = (roubles: number, months: number) => {
    const text = roubles === 0 ? words.free : words.roubles(roubles)
    return way?.priced(plan, months, text) ?? text
  }
  const number = (label: string, text: Html | string) =>
    html`<td class="number" data-label="${label}">${text}</td>`
  return html`<tr>
    <th scope="row">${planHeading(plan)}</th>
    ${number(words.monthPrice, price(plan.monthRub, 1))}
    ${number(words.yearPrice, price(plan.yearRub, 12))}
    ${number(words.rowsPerMonth, words.number(plan.rowsPerMonth))}
    <td data-label="${words.history}">
      ${plan.history === 'all' ? words.allYears : words.lastYears(plan.history)}
    </td>
    ${number(words.requestsPerMinute, words.number(plan.ratePerMinute))}
    ${way && html`<td data-label="${way.heading}">${way.of(plan)}</td>`}
  </tr>`
}
