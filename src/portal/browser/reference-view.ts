import { askFor } from './ask-page.js'
import { enableCopying } from './copy.js'
import { button, element } from './element.js'
import { words } from './page-words.js'
import { refusalText } from './refusal-text.js'
import { forgetToken, ownToken } from './tab-store.js'
import { foldedTokenForm } from './token-form.js'

const contentId = 'content'

/**
 * Starts a page of the API reference. With a token in this tab, the page is replaced by what the
 * server sends for that token: its datasets may be other than the public ones.
 */
export function startReference(): void {
  const { pathname, search } = location
  const root = document.documentElement.dataset['root'] ?? ''
  const path = pathname.slice(root.length)
  if (path !== '/docs' && !path.startsWith('/docs/')) return
  const token = ownToken()
  if (token !== null) {
    void showOwn(path + search, token)
    return
  }
  const taken = async () => {
    const forget = await showOwn(path + search, ownToken() ?? '')
    forget.focus()
  }
  fill(
    foldedTokenForm(words.referencePublic, () => {
      void taken()
    }),
  )
}

/** Returns the button that leads back to the public page. */
async function showOwn(path: string, token: string): Promise<HTMLButtonElement> {
  // Without `Accept: text/html`, a refusal comes as JSON.
  const answer = await askFor(path, token, {}, async (response) => ({
    kind: 'page' as const,
    page: new DOMParser().parseFromString(await response.text(), 'text/html'),
  }))
  const forget = button(words.forget, () => {
    forgetToken()
    location.reload()
  })
  if (answer.kind === 'refused') {
    const text = element('span', { role: 'status', class: 'status error' }, refusalText(answer))
    fill(element('p', { class: 'line' }, text, forget))
    return forget
  }
  const content = answer.page.getElementById(contentId)
  if (content) document.getElementById(contentId)?.replaceWith(content)
  document.title = answer.page.title
  enableCopying(document)
  fill(element('p', { class: 'line' }, words.referenceOwn, forget))
  if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView()
  return forget
}

/** A page that was not found has no place for it. */
function fill(bar: HTMLElement): void {
  document.getElementById('reference-token')?.replaceChildren(bar)
}
