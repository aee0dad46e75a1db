import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Clock } from '../clock.js'

/**
 * Progress is measured in pieces: a slow client takes minutes for a long page. A piece fills the
 * buffer of the response, so that the next one is asked for when the client has taken it.
 */
const pieceBytes = 64 * 1024

/** How long a client may read nothing, and what runs before the server disconnects it. */
export interface Patience {
  readonly clock: Clock
  readonly silenceMs: number
  readonly onSilence: () => void
}

/**
 * A body that requests its next page after every byte of the earlier pages has left this process.
 * At most one page, plus the operating system's buffers, is charged and not yet read. A client that
 * reads nothing for too long is disconnected; the time to produce a page does not count.
 */
export function pacedBody(
  pages: AsyncIterable<Buffer>,
  response: ServerResponse,
  patience: Patience,
): Readable {
  const pieces = piecesOf(pages, response, watchSilence(response, patience))
  return new Readable({
    highWaterMark: 0,
    read() {
      pieces.next().then(
        ({ value }) => this.push(value),
        (cause: Error) => this.destroy(cause),
      )
    },
  })
}

async function* piecesOf(
  pages: AsyncIterable<Buffer>,
  response: ServerResponse,
  silence: Silence,
): AsyncGenerator<Buffer, null> {
  for await (const page of pages) {
    let start = 0
    while (start < page.length) {
      const end = page.length - start < 2 * pieceBytes ? page.length : start + pieceBytes
      silence.restart()
      yield page.subarray(start, end)
      start = end
    }
    silence.restart()
    await flushed(response)
    silence.stop()
  }
  // The client reads the rest, or the response is closed.
  silence.restart()
  return null
}

/** Resolves when this process buffers nothing of the answer, or the client has disconnected. */
async function flushed(response: ServerResponse): Promise<void> {
  do {
    if (response.destroyed) return
    // An empty write ends after all earlier writes. A compressor may then have more to write.
    await new Promise((resolve) => response.write('', 'utf8', () => setImmediate(resolve)))
  } while (response.writableLength > 0)
}

interface Silence {
  /** Starts the timer: the client has data to read, or has just read some. */
  readonly restart: () => void
  /** Stops the timer: the client has no data to read. */
  readonly stop: () => void
}

function watchSilence(
  response: ServerResponse,
  { clock, silenceMs, onSilence }: Patience,
): Silence {
  let cancel: (() => void) | undefined
  const stop = () => cancel?.()
  const restart = () => {
    stop()
    if (response.destroyed) return
    cancel = clock.after(silenceMs, () => {
      onSilence()
      response.destroy()
    })
  }
  response.once('close', stop)
  return { restart, stop }
}
