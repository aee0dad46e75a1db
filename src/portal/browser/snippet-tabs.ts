import { snippetsOf } from '../snippets.js'
import type { Snippet, SnippetRequest } from '../snippets.js'
import { element } from './element.js'
import { words } from './page-words.js'

export interface SnippetTabs {
  readonly node: HTMLElement
  readonly show: (request: SnippetRequest) => void
}

/** Shows the request as code, one tab for each tool. */
export function snippetTabs(first: SnippetRequest): SnippetTabs {
  const tabs = snippetsOf(first).map(snippetTab)
  const list = element('div', { class: 'tabs', role: 'tablist', 'aria-label': words.tools })
  const select = (index: number) => {
    for (const [each, { tab, panel }] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(each === index))
      tab.tabIndex = each === index ? 0 : -1
      panel.hidden = each !== index
    }
  }
  for (const [index, { tab }] of tabs.entries()) {
    tab.addEventListener('click', () => select(index))
    tab.addEventListener('keydown', ({ key }) => {
      const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 }
      const step = steps[key]
      if (step === undefined) return
      const next = (index + step + tabs.length) % tabs.length
      select(next)
      tabs[next]?.tab.focus()
    })
    list.append(tab)
  }
  select(0)
  const node = element('div', {}, list, ...tabs.map(({ panel }) => panel))
  return {
    node,
    show: (request) => {
      for (const [index, { text }] of snippetsOf(request).entries()) tabs[index]?.show(text)
    },
  }
}

function snippetTab({ id, title, text }: Snippet) {
  const tabId = `tab-${id}`
  const panelId = `panel-${id}`
  const tab = element(
    'button',
    { type: 'button', role: 'tab', id: tabId, 'aria-controls': panelId },
    title,
  )
  const code = element('code', {}, text)
  const panel = element(
    'div',
    { class: 'code', role: 'tabpanel', id: panelId, 'aria-labelledby': tabId },
    element('pre', { tabindex: 0 }, code),
    element('button', { type: 'button', class: 'copy' }, words.copy),
  )
  const show = (next: string) => {
    code.textContent = next
  }
  return { tab, panel, show }
}
