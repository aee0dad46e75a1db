import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'

/** The client's progress is measured in pieces: a slow client takes minutes for a long page. */
const pieceBytes = 64 * 1024

/** How long a client may read nothing, and what is done then, before it is disconnected. */
export interface Patience {
  readonly silenceMs: number
  readonly onSilence: () => void
}

/**
 * A body whose next page is asked for when every byte of those before it has left this process, so
 * that what is paid for and unread is one page and what the operating system holds. A client that
 * reads nothing for too long is disconnected; the time that we take for a page does not count.
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
    for (let start = 0; start < page.length; start += pieceBytes) {
      silence.restart()
      yield page.subarray(start, start + pieceBytes)
    }
    silence.restart()
    await flushed(response)
    silence.stop()
  }
  // What is left is taken, or the response is closed.
  silence.restart()
  return null
}

/** Resolves when nothing of the answer waits in this process, or the client is gone. */
async function flushed(response: ServerResponse): Promise<void> {
  do {
    if (response.destroyed) return
    // An empty write ends after all those before it. Then a compressor may have more to write.
    await new Promise((resolve) => response.write('', 'utf8', () => setImmediate(resolve)))
  } while (response.writableLength > 0)
}

interface Silence {
  /** The client has to read from now on, or has read. */
  readonly restart: () => void
  /** The client has nothing to read. */
  readonly stop: () => void
}

function watchSilence(response: ServerResponse, { silenceMs, onSilence }: Patience): Silence {
  let timer: NodeJS.Timeout | undefined
  const stop = () => clearTimeout(timer)
  const restart = () => {
    stop()
    if (response.destroyed) return
    timer = setTimeout(() => {
      onSilence()
      response.destroy()
    }, silenceMs)
  }
  response.once('close', stop)
  return { restart, stop }
}
