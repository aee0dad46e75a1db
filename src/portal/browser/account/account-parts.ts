import { ask } from '../ask-page.js'
import type { Answer } from '../ask-page.js'
import { element } from '../element.js'
import { words } from '../page-words.js'
import { sayRefusal } from '../refusal-text.js'

export type Cell = string | HTMLElement

/** Names with their values. */
export function facts(entries: readonly (readonly [string, Cell])[]): HTMLElement {
  const pairs = entries.map(([name, value]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value)),
  )
  return element('dl', { class: 'facts' }, ...pairs)
}

/** A table that scrolls sideways; the first cell of each row names the row. */
export function table(
  label: string,
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
): HTMLElement {
  const head = titles.map((title) => element('th', { scope: 'col' }, title))
  const body = rows.map(([first = '', ...rest]) => {
    const cells = rest.map((cell) => element('td', {}, cell))
    return element('tr', {}, element('th', { scope: 'row' }, first), ...cells)
  })
  return element(
    'div',
    { class: 'wide', role: 'region', tabindex: 0, 'aria-label': label },
    element(
      'table',
      {},
      element('thead', {}, element('tr', {}, ...head)),
      element('tbody', {}, ...body),
    ),
  )
}

/** A line that says what is going on, also to screen readers. */
export interface StatusLine {
  readonly line: HTMLElement
  readonly say: (text: string) => void
  /** Says the text of a finished action whose button is gone, and takes the focus. */
  readonly sayDone: (text: string) => void
  /** Sends a request, and says that it runs or why it was refused; null when refused. */
  readonly ask: (path: string, token: string, order?: Parameters<typeof ask>[2]) => Promise<unknown>
}

/** Creates an empty status line. */
export function statusLine(): StatusLine {
  const line = element('p', { role: 'status', class: 'status', tabindex: -1 })
  const show = (text: string, isError: boolean) => {
    line.classList.toggle('error', isError)
    line.textContent = text
  }
  return {
    line,
    say: (text) => show(text, false),
    sayDone: (text) => {
      show(text, false)
      line.focus()
    },
    ask: async (path, token, order) => {
      show(words.running, false)
      const answer = await ask(inLanguage(path), token, order)
      show('', answer.kind === 'refused')
      if (answer.kind === 'refused') sayRefusal(line, answer)
      return contentOf(answer)
    },
  }
}

/** The server answers in the language of the page. */
function inLanguage(path: string): string {
  const { lang } = document.documentElement
  return `${path}${path.includes('?') ? '&' : '?'}lang=${lang}`
}

/** Answers without content are `{}`. */
function contentOf(answer: Answer): unknown {
  if (answer.kind === 'refused') return null
  return JSON.parse(answer.text === '' ? '{}' : answer.text)
}
