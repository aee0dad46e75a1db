import { ask } from './ask-page.js'
import { button, element, onSubmit } from './element.js'
import { signInSay, words } from './page-words.js'
import { sayRefusal } from './refusal-text.js'
import { forgetToken, keepToken, pastedToken, payer } from './tab-store.js'

/** Shows which token is used, and changes it. `changed` is called after a change. */
export function tokenBar(hasDemo: boolean, changed: () => void): HTMLElement {
  if (pastedToken() !== null) return forgetLine(words.withOwn, changed)
  const own = payer()
  if (own !== null) return foldedTokenForm(signInSay.paidBy(own), changed)
  if (hasDemo) return foldedTokenForm(words.withDemo, changed)
  return element('div', {}, element('p', {}, words.noToken), tokenForm(changed))
}

/** A line of text with a button that opens the form. */
export function foldedTokenForm(text: string, changed: () => void): HTMLElement {
  const form = tokenForm(changed)
  form.hidden = true
  const own = button(
    words.useOwn,
    () => {
      form.hidden = !form.hidden
      own.setAttribute('aria-expanded', String(!form.hidden))
      if (!form.hidden) form.querySelector('input')?.focus()
    },
    { 'aria-expanded': 'false' },
  )
  return element('div', {}, element('p', { class: 'line' }, text, own), form)
}

/** A line of text with a button that forgets the visitor's own token. */
export function forgetLine(text: string, forgotten: () => void): HTMLElement {
  const forget = button(words.forget, () => {
    forgetToken()
    forgotten()
  })
  return element('p', { class: 'line' }, text, forget)
}

/** Takes a token if the service knows it, and keeps it for this tab. */
function tokenForm(changed: () => void): HTMLFormElement {
  const hidden = { type: 'password', autocomplete: 'off', spellcheck: 'false' }
  // It shows none of the token.
  const input = element('input', { ...hidden, required: true })
  const status = element('span', { role: 'status', class: 'status' })
  const form = element(
    'form',
    { class: 'line' },
    element('label', { class: 'line' }, words.token, input),
    element('button', {}, words.useToken),
    status,
  )
  const take = async (token: string) => {
    status.classList.remove('error')
    status.textContent = words.running
    const answer = await ask('/v1/account', token)
    if (answer.kind === 'refused') {
      status.classList.add('error')
      sayRefusal(status, answer)
      return
    }
    keepToken(token)
    changed()
  }
  onSubmit(form, () => take(input.value.trim()))
  return form
}
