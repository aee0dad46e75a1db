import { ask } from '../ask-page.js'
import type { Answer } from '../ask-page.js'
import { button, element } from '../element.js'
import { words } from '../page-words.js'
import { sayRefusal } from '../refusal-text.js'
import { say } from './account-words.js'

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

/** What a section lists: the items that this path answers. */
interface Listed<Item> {
  readonly id: string
  readonly path: string
  readonly title: string
  readonly text: string
  readonly none: string
  readonly titles: readonly string[]
  readonly cells: (item: Item) => readonly Cell[]
}

/** A section with a list, and what is done with it. */
export interface ListSection extends StatusLine {
  readonly section: HTMLElement
  /** Asks, shows the list again and says what was done; null when refused. */
  readonly act: (done: string, ...asked: Parameters<StatusLine['ask']>) => Promise<unknown>
}

/** Builds a section that lists what the server has, with `more` below the list. */
export function listSection<Item>(
  token: string,
  { id, path, title, text, none, titles, cells }: Listed<Item>,
  ...more: readonly HTMLElement[]
): ListSection {
  const status = statusLine()
  const place = element('div')
  const load = async (query = '') => {
    const answer = await status.ask(`${path}${query}`, token)
    if (answer === null) return
    // The server's functions for JSON wrote them.
    const { data, next_cursor: next } = answer as {
      readonly data: readonly Item[]
      readonly next_cursor?: string | null
    }
    const list = data.length === 0 ? element('p', { class: 'muted' }, none) : null
    place.replaceChildren(list ?? table(title, titles, data.map(cells)))
    if (next) place.append(button(say.earlier, () => load(`?cursor=${next}`)))
  }
  const act: ListSection['act'] = async (done, ...asked) => {
    const answer = await status.ask(...asked)
    if (answer === null) return null
    await load()
    status.sayDone(done)
    return answer
  }
  void load()
  const head = [element('h2', { id }, title), element('p', {}, text), status.line]
  return { ...status, act, section: element('section', {}, ...head, place, ...more) }
}

/** The server answers in the language of the page; REST has one language. */
function inLanguage(path: string): string {
  if (!path.startsWith('/account')) return path
  const { lang } = document.documentElement
  return `${path}${path.includes('?') ? '&' : '?'}lang=${lang}`
}

/** Answers without content are `{}`. */
function contentOf(answer: Answer): unknown {
  if (answer.kind === 'refused') return null
  return JSON.parse(answer.text === '' ? '{}' : answer.text)
}
