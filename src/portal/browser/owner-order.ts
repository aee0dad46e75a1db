/**
 * Sends the secret behind `#` of a letter's link, and takes it out of the address: the answer shows
 * the order. Nothing changes before a button is pressed there.
 */
export function openOwnerOrder(form: HTMLFormElement): void {
  const secret = form.elements.namedItem('secret')
  const text = location.hash.slice(1)
  if (text === '' || !(secret instanceof HTMLInputElement)) return
  secret.value = text
  history.replaceState(null, '', location.pathname + location.search)
  form.submit()
}
