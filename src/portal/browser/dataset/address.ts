import { labels } from '../page-words.js'
import { keepAsked, ownToken, wasAsked } from '../tab-store.js'

/** The fragment of the page's address. It says what the page shows, so that a link shows it too. */
export interface Address {
  /** Writes a question that is being changed; going back leads to the one asked before. */
  readonly edit: (fragment: string) => void
  /** Writes a question that is asked now. */
  readonly ask: (fragment: string) => void
  /** Writes what another tab of the page shows. */
  readonly open: (fragment: string) => void
  /** Whether the question of the address was asked in this tab with a visitor's own token. */
  readonly wasAsked: () => boolean
  /** Calls this, and no earlier one, when the visitor changes the address: back, a link. */
  readonly follow: (moved: (fragment: string) => void) => void
}

/** Browsers refuse an address that changes with every letter. */
const pauseMs = 300
/** Marks entries of the browser's history: asked with the demo token, or with an own one. */
const marks = { demo: 'asked with the demo', own: 'asked' } as const

type Mark = (typeof marks)[keyof typeof marks]

/** Keeps the address up to date, and the links to other languages. */
export function keepAddress(): Address {
  let pending: string | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let moved: (fragment: string) => void = () => undefined
  const write = (fragment: string, state: Mark | null, isNew: boolean) => {
    clearTimeout(timer)
    pending = null
    const isSame = fragment === location.hash
    history[isNew && !isSame ? 'pushState' : 'replaceState'](state, '', fragment)
    if (state === marks.own) keepAsked(questionOf(fragment))
  }
  // A question that was asked keeps its entry; one that is being changed has one entry in all.
  const isAsked = () => history.state === marks.demo || history.state === marks.own
  const finish = () => {
    if (pending !== null) write(pending, null, isAsked())
  }
  document.querySelector('.languages')?.addEventListener('click', ({ target }) => {
    finish()
    if (target instanceof HTMLAnchorElement) target.hash = location.hash
  })
  addEventListener('hashchange', () => {
    clearTimeout(timer)
    pending = null
    moved(location.hash)
  })
  return {
    edit: (fragment) => {
      pending = fragment
      clearTimeout(timer)
      timer = setTimeout(finish, pauseMs)
    },
    ask: (fragment) => {
      write(fragment, ownToken() === null ? marks.demo : marks.own, isAsked())
    },
    open: (fragment) => {
      finish()
      write(fragment, null, true)
    },
    wasAsked: () => history.state === marks.own || wasAsked(questionOf(location.hash)),
    follow: (next) => {
      moved = next
    },
  }
}

/** What a fragment asks for: groups come with the names of codes in the language of the page. */
function questionOf(fragment: string): string {
  return fragment.startsWith('#analyse') ? `${labels} ${fragment}` : fragment
}
