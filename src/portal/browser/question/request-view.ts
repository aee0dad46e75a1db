import { snippetsOf } from '../../snippets.js'
import type { SnippetRequest } from '../../snippets.js'
import { enableCopying } from '../copy.js'
import { copyable, element } from '../element.js'
import { words } from '../page-words.js'
import { makeTabs } from '../tabs.js'

export interface RequestView {
  readonly node: HTMLElement
  /** Shows the request of this kind with this query. */
  readonly show: (kind: SnippetRequest['kind'], query: string) => void
}

/** Replaces a visitor's own token, which the page never shows. */
const placeholder = 'YOUR_TOKEN'

/** Shows a request as a URL and as code for each tool; `shownToken` null = a placeholder. */
export function requestView(
  { dataset, kind: firstKind, query: first }: Pick<SnippetRequest, 'dataset' | 'kind' | 'query'>,
  shownToken: string | null,
): RequestView {
  const baseUrl = document.documentElement.dataset['base'] ?? ''
  const requestOf = (kind: SnippetRequest['kind'], query: string) => ({
    ...{ baseUrl, dataset, kind, query },
    token: shownToken ?? placeholder,
  })
  const url = element('code')
  const tabs = snippetTabs(requestOf(firstKind, first))
  const show: RequestView['show'] = (kind, query) => {
    url.textContent = `${baseUrl}/v1/${dataset}${kind === 'rows' ? '' : `/${kind}`}?${query}`
    tabs.show(requestOf(kind, query))
  }
  show(firstKind, first)
  const node = element(
    'div',
    { class: 'take' },
    element('h3', {}, words.request),
    copyable(url, words.copy),
    element('h3', {}, words.take),
    tabs.node,
    shownToken === null ? element('p', { class: 'muted' }, words.yourToken) : null,
  )
  enableCopying(node)
  return { node, show }
}

/** Shows the request as code, one tab for each tool. */
function snippetTabs(first: SnippetRequest) {
  const snippets = snippetsOf(first).map(({ id, title, text }) => {
    const code = element('code', {}, text)
    return { id: `${first.kind}-${id}`, title, code, panel: copyable(code, words.copy) }
  })
  const tabs = makeTabs(words.tools, snippets)
  return {
    node: element('div', {}, tabs.node, ...snippets.map(({ panel }) => panel)),
    show: (request: SnippetRequest) => {
      for (const [index, { text }] of snippetsOf(request).entries()) {
        const code = snippets[index]?.code
        if (code) code.textContent = text
      }
    },
  }
}
