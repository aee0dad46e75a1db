import { enableCopying } from '../copy.js'
import { button, copyable, element, onSubmit } from '../element.js'
import { words } from '../page-words.js'
import { keepToken } from '../tab-store.js'
import { statusLine } from './account-parts.js'
import { say } from './account-words.js'

interface Issued {
  readonly token: string
  readonly earlier_valid_until: string | null
}

/** Exchanges the token for a new one, with a code that is mailed to the subscription's address. */
export function reissueForm(token: string): HTMLElement {
  const status = statusLine()
  const place = element('div')
  const start = async () => {
    const answer = await status.ask('/account/token/code', token, { method: 'POST', body: {} })
    if (answer === null) return
    const { code_id: codeId } = answer as { readonly code_id: string }
    status.say(say.codeSent)
    place.replaceChildren(codeForm(codeId, finish, button(say.newCode, start)))
    place.querySelector('input')?.focus()
  }
  const finish = async (body: object) => {
    const answer = await status.ask('/account/token', token, { method: 'POST', body })
    if (answer === null) return
    const { token: issued, earlier_valid_until: until } = answer as Issued
    keepToken(issued)
    place.replaceChildren(copyable(element('code', {}, issued), words.copy))
    enableCopying(place)
    const earlier = until === null ? say.earlierEnded : say.earlierUntil(say.moment(until))
    status.sayDone(`${say.tokenShown} ${earlier}`)
  }
  place.append(button(say.sendCode, start))
  return element(
    'section',
    {},
    element('h2', { id: 'reissue' }, say.reissue),
    element('p', {}, say.reissueText),
    status.line,
    place,
  )
}

function codeForm(
  codeId: string,
  finish: (typed: object) => Promise<void>,
  again: HTMLElement,
): HTMLElement {
  const code = element('input', {
    id: 'reissue-code',
    required: true,
    inputmode: 'numeric',
    autocomplete: 'one-time-code',
    maxlength: 20,
  })
  const endEarlier = element('input', { id: 'reissue-end', type: 'checkbox' })
  const form = element(
    'form',
    {},
    element('p', { class: 'line' }, element('label', { for: code.id }, say.code), code),
    element(
      'p',
      { class: 'line' },
      endEarlier,
      element('label', { for: endEarlier.id }, say.endEarlier),
    ),
    element('p', { class: 'line' }, element('button', { class: 'primary' }, say.getToken), again),
  )
  onSubmit(form, () =>
    finish({ code_id: codeId, code: code.value, end_earlier: endEarlier.checked }),
  )
  return form
}
