import { askFor, leftOf } from './ask-page.js'
import type { Left, Refusal } from './ask-page.js'
import { element } from './element.js'

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
export function download(
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

function saveAs(name: string, content: Blob): void {
  const href = URL.createObjectURL(content)
  element('a', { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), keptMs)
}
