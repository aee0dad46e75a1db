import type { AccountDescription } from '../../../service/answer-schemas.js'
import { connectionsView } from './connections-view.js'
import { watchListsView, webhooksView } from './hooks-view.js'
import { ordersView } from './orders-view.js'
import { reissueForm } from './reissue-form.js'
import { usageView } from './usage-view.js'
import { ask } from '../ask-page.js'
import { button, element, onSubmit } from '../element.js'
import { words } from '../page-words.js'
import { sayRefusal } from '../refusal-text.js'
import { forgetToken, keepToken, pastedToken, payer, sessionMark } from '../tab-store.js'
import { tokenInput } from '../token-form.js'

/** What the demo token has in place of a subscription. */
const demo = 'demo'

/** Builds the account page: an input for the token, then its account. */
export function startAccount(place: HTMLElement): void {
  const input = tokenInput('token')
  const status = element('p', { role: 'status', class: 'status' })
  const account = element('div')
  /** Counts requests, so that the answer to an earlier request is ignored. */
  let asked = 0
  const forget = button(words.forget, () => {
    asked += 1
    forgetToken()
    startAccount(place)
    document.getElementById(input.id)?.focus()
  })
  const show = async (token: string) => {
    asked += 1
    const own = asked
    status.textContent = words.running
    const answer = await ask('/v1/account', token)
    if (own !== asked) return
    const isRefused = answer.kind === 'refused'
    status.classList.toggle('error', isRefused)
    account.replaceChildren()
    if (isRefused) return sayRefusal(status, answer)
    status.textContent = words.usedFromNow
    keepToken(token)
    forget.hidden = false
    // The server validates this answer against its schema.
    const description = JSON.parse(answer.text) as AccountDescription
    account.append(...usageView(description))
    if (description.subscription !== demo) account.append(...subscriptionView(token))
  }
  const form = element(
    'form',
    { class: 'line' },
    element('label', { for: input.id }, words.token),
    input,
    element('button', { class: 'primary' }, words.show),
    forget,
  )
  onSubmit(form, () => show(input.value.trim()))
  const known = pastedToken()
  forget.hidden = known === null
  place.replaceChildren(form, status, account)
  if (known !== null) void show(known)
  else startOwn()
}

/** Adds what a person who signed in can do with the subscription that pays. */
function startOwn(): void {
  const own = payer()
  const place = document.querySelector(`[data-subscription="${own}"]`)
  if (own === null || place === null) return
  // The script shows them with what can be done.
  for (const part of place.querySelectorAll('.orders, .hooks')) part.remove()
  place.append(...subscriptionView(sessionMark + own))
}

/** What the holder of a subscription's token can do. */
function subscriptionView(token: string): readonly HTMLElement[] {
  const reissue = element('div')
  const orders = ordersView(token, ({ can_reissue: canReissue }) => {
    if (canReissue && reissue.childElementCount === 0) reissue.append(reissueForm(token))
  })
  const hooks = [webhooksView(token), watchListsView(token)]
  return [orders, connectionsView(token), ...hooks, reissue]
}
