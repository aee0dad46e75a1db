import { enableCopying } from '../copy.js'
import { element } from '../element.js'
import { words } from '../page-words.js'
import { snippetTabs } from '../snippet-tabs.js'
import { writeQuestion } from './question-form.js'
import type { Question } from './question-form.js'

export interface RequestView {
  readonly node: HTMLElement
  readonly show: (question: Question) => void
}

/** Replaces a visitor's own token, which the page never shows. */
const placeholder = 'YOUR_TOKEN'

/** Shows the request as a URL and as code for each tool; `shownToken` null = a placeholder. */
export function requestView(
  dataset: string,
  shownToken: string | null,
  first: Question,
): RequestView {
  const baseUrl = document.documentElement.dataset['base'] ?? ''
  const requestOf = (question: Question) => ({
    baseUrl,
    dataset,
    query: writeQuestion(question),
    token: shownToken ?? placeholder,
  })
  const url = element('code')
  const tabs = snippetTabs(requestOf(first))
  const show = (question: Question) => {
    const request = requestOf(question)
    url.textContent = `${baseUrl}/v1/${dataset}?${request.query}`
    tabs.show(request)
  }
  show(first)
  const node = element(
    'div',
    { class: 'take' },
    element('h3', {}, words.request),
    element(
      'div',
      { class: 'code' },
      element('pre', { tabindex: 0 }, url),
      element('button', { type: 'button', class: 'copy' }, words.copy),
    ),
    element('h3', {}, words.take),
    tabs.node,
    shownToken === null ? element('p', { class: 'muted' }, words.yourToken) : null,
  )
  enableCopying(node)
  return { node, show }
}
