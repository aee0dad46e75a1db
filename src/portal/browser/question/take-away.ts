import { download } from '../download.js'
import { button, element } from '../element.js'
import { words } from '../page-words.js'
import { refusalText } from '../refusal-text.js'

/** A file that an answer can be saved as. */
interface TakenFile {
  readonly label: string
  /** The path and query that return it. */
  readonly path: string
}

const pageFormats = [
  ['CSV', 'csv'],
  ['XLSX', 'xlsx'],
  ['Parquet', 'parquet'],
] as const

/** The files of one answer, and of all rows that its filters match. */
export function filesOf(answerPath: string, exportPath: string): readonly TakenFile[] {
  return [
    ...pageFormats.map(([label, format]) => ({ label, path: `${answerPath}&format=${format}` })),
    { label: words.allRows, path: exportPath },
  ]
}

/**
 * Buttons that save these files, one at a time. Beside them stands how far it is, what it cost, or
 * why there is no file.
 */
export function takeAway(files: readonly TakenFile[], token: string): HTMLElement {
  const status = element('span', { role: 'status', class: 'status' })
  const size = element('span', { class: 'muted' })
  let running: AbortController | null = null
  const cancel = button(words.cancel, () => running?.abort())
  cancel.hidden = true
  const save = async (path: string, pressed: HTMLElement) => {
    if (running) return
    running = new AbortController()
    const { signal } = running
    cancel.hidden = false
    status.classList.remove('error')
    status.textContent = words.downloading
    const answer = await download(path, token, signal, (bytes) => {
      size.textContent = words.bytes(bytes)
    })
    running = null
    if (document.activeElement === cancel) pressed.focus()
    cancel.hidden = true
    size.textContent = ''
    status.classList.toggle('error', answer.kind === 'refused' && !signal.aborted)
    if (signal.aborted) status.textContent = words.cancelled
    else if (answer.kind === 'refused') status.textContent = refusalText(answer)
    else {
      const { charged } = answer.left
      const cost = charged === null ? '' : ` · ${words.charged(charged)}`
      status.textContent = `${words.saved(answer.name, words.bytes(answer.bytes))}${cost}`
    }
  }
  const buttons = files.map(({ label, path }) => {
    const made: HTMLElement = button(label, () => save(path, made))
    return made
  })
  return element(
    'div',
    { class: 'line', role: 'group', 'aria-label': words.takeAway },
    element('span', { class: 'muted' }, words.takeAway),
    ...buttons,
    cancel,
    status,
    size,
  )
}
