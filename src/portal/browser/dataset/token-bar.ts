import { button, element } from '../element.js'
import { words } from '../page-words.js'
import { forgetToken, ownToken } from '../tab-store.js'
import { foldedTokenForm, tokenForm } from '../token-form.js'

/** Shows which token is used, and changes it. `changed` is called after a change. */
export function tokenBar(hasDemo: boolean, changed: () => void): HTMLElement {
  if (ownToken() !== null) {
    const forget = button(words.forget, () => {
      forgetToken()
      changed()
    })
    return element('p', { class: 'line' }, words.withOwn, forget)
  }
  if (hasDemo) return foldedTokenForm(words.withDemo, changed)
  return element('div', {}, element('p', {}, words.noToken), tokenForm(changed))
}
