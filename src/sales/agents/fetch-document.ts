import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../clock.js'
import { askPublicHost } from '../public-host.js'
import type { HostOptions } from '../public-host.js'

/** The draft's recommendation. */
export const documentBytesMax = 5 * 1024

const timeoutMs = 5000

/**
 * Reads a small JSON document at an `https` address that a stranger has named, as `askPublicHost`
 * allows it; the answer ends after 5 seconds or 5 KB.
 *
 * @throws Error, for the log
 */
export async function fetchDocument(
  url: URL,
  clock: Clock,
  options: HostOptions = {},
): Promise<string> {
  const headers = { Accept: 'application/json', 'Accept-Encoding': 'identity' }
  return await readSmall(await askPublicHost(url, clock, { headers, timeoutMs }, options))
}

async function readSmall(answer: IncomingMessage): Promise<string> {
  const { statusCode, headers } = answer
  try {
    if (statusCode !== 200) throw new Error(`the document's status is ${statusCode}, not 200`)
    const type = headers['content-type'] ?? ''
    if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) throw new Error('the document is not JSON')
    const pieces: Buffer[] = []
    let bytes = 0
    for await (const piece of answer as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > documentBytesMax) throw new Error('the document is over 5 KB')
      pieces.push(piece)
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces))
  } finally {
    answer.destroy()
  }
}
