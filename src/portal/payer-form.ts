import { html } from './html.js'
import type { Html } from './html.js'
import type { PageContext } from './page-context.js'
import { signInWords } from './sign-in-words.js'

/**
 * Asks a person with several live subscriptions which one pays, and returns to this page; null for
 * all others, and once it was asked. With `isAgain` a choice that was made can be changed.
 */
export function payerForm(context: PageContext, isAgain = false): Html | null {
  const { person, language, link, here } = context
  if (person === null || person.subscriptions.length < 2) return null
  if (person.payer !== null && !isAgain) return null
  const say = signInWords(language)
  return html`<form class="order" method="post" action="${link('/session/payer')}">
    <fieldset>
      <legend>${say.chooseText}</legend>
      ${person.subscriptions.map(({ subscriptionId, grants, expiresAt }) => {
        const plans = grants.map(({ dataset, plan }) => `${dataset} (${plan})`).join(', ')
        const mark = person.payer?.id === subscriptionId ? html`checked` : null
        return html`<p>
          <label>
            <input type="radio" name="subscription" value="${subscriptionId}" required ${mark} />
            ${say.chosen(subscriptionId, plans, say.date(expiresAt))}
          </label>
        </p>`
      })}
    </fieldset>
    <input type="hidden" name="next" value="${here}" />
    <p><button type="submit">${say.choose}</button></p>
  </form>`
}
