import { askFor, leftOf } from '../ask-page.js'
import type { Left, Refusal } from '../ask-page.js'
import { button, element } from '../element.js'
import { labels, words } from '../page-words.js'
import { sayRefusal } from '../refusal-text.js'

/** A file that an answer can be saved as. */
interface TakenFile {
  readonly label: string
  /** The path and query that return it. */
  readonly path: string
}

const pageFormats = [
  ['CSV', 'csv'],
  ['XLSX', labels === 'ru' ? 'xlsx&lang=ru' : 'xlsx'],
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
    else if (answer.kind === 'refused') sayRefusal(status, answer)
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

interface Saved {
  readonly kind: 'saved'
  readonly name: string
  readonly bytes: number
  readonly left: Left
}

/** Until then the browser has begun to write the file. */
const keptMs = 60_000

/**
 * Saves an answer as the file that the server names. The token goes into a header, as ever; a link
 * to the file would need it in the URL. `arrived` learns how many bytes are here so far.
 */
function download(
  path: string,
  token: string,
  signal: AbortSignal,
  arrived: (bytes: number) => void,
): Promise<Saved | Refusal> {
  return askFor(path, token, { signal }, async (response) => {
    const { headers, body } = response
    const name = /filename="([^"]+)"/.exec(headers.get('Content-Disposition') ?? '')?.[1] ?? ''
    let bytes = 0
    const counted = body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          bytes += chunk.length
          arrived(bytes)
          controller.enqueue(chunk)
        },
      }),
    )
    // The browser may keep a large blob on disk, unlike bytes in the memory of the page.
    const blob = await new Response(counted ?? null).blob()
    saveAs(name, blob)
    return { kind: 'saved', name, bytes, left: leftOf(headers) }
  })
}

/** Saves content as a file of this name. */
export function saveAs(name: string, content: Blob): void {
  const href = URL.createObjectURL(content)
  element('a', { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), keptMs)
}
