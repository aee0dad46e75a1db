import { forgetToken, keepToken, pastedToken } from './tab-store.js'

/**
 * Keeps a token in this tab once the account of it is shown, opens that account again, and forgets
 * the token.
 */
export function keepAccountToken(): void {
  const shown = document.querySelector<HTMLInputElement>('input[type="hidden"][name="token"]')
  if (shown) {
    keepToken(shown.value)
    // To load this page again must not send its form again.
    history.replaceState(null, '', location.href)
  }
  const form = document.getElementById('token-form')
  const known = pastedToken()
  if (!(form instanceof HTMLFormElement) || known === null) return
  const kept = document.getElementById('kept-token')
  kept?.toggleAttribute('hidden', false)
  kept?.querySelector('button')?.addEventListener('click', () => {
    forgetToken()
    location.assign(location.pathname + location.search)
  })
  const input = form.elements.namedItem('token')
  if (form.dataset['opens'] === undefined || !(input instanceof HTMLInputElement)) return
  input.value = known
  form.submit()
}
