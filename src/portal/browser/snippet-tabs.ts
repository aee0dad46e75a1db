import { snippetsOf } from '../snippets.js'
import type { SnippetRequest } from '../snippets.js'
import { copyable, element } from './element.js'
import { words } from './page-words.js'
import { makeTabs } from './tabs.js'

export interface SnippetTabs {
  readonly node: HTMLElement
  readonly show: (request: SnippetRequest) => void
}

/** Shows the request as code, one tab for each tool. */
export function snippetTabs(first: SnippetRequest): SnippetTabs {
  const snippets = snippetsOf(first).map(({ id, title, text }) => {
    const code = element('code', {}, text)
    return { id: `${first.kind}-${id}`, title, code, panel: copyable(code, words.copy) }
  })
  const tabs = makeTabs(words.tools, snippets)
  return {
    node: element('div', {}, tabs.node, ...snippets.map(({ panel }) => panel)),
    show: (request) => {
      for (const [index, { text }] of snippetsOf(request).entries()) {
        const code = snippets[index]?.code
        if (code) code.textContent = text
      }
    },
  }
}
