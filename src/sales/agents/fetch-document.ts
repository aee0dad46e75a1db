import { lookup } from 'node:dns/promises'
import { request } from 'node:https'
import type { RequestOptions } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { abortAfter } from '../../clock.js'
import type { Clock } from '../../clock.js'
import { isPublicAddress } from './special-addresses.js'

/** The draft's recommendation. */
export const documentBytesMax = 5 * 1024

/** For the name, the connection and the whole answer. */
const timeoutMs = 5000

/** How documents are fetched; tests have a resolver and a certificate of their own. */
export interface FetchOptions {
  /** All addresses of a host name. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  readonly isAllowed?: (address: string) => boolean
  /** Certificates to trust besides those of Node. */
  readonly ca?: string | Buffer
}

/**
 * Reads a small JSON document at an `https` address that a stranger has named. The name is resolved
 * once, all its addresses must be public, and the connection goes to one of them; redirects are not
 * followed, and the answer ends after 5 seconds or 5 KB.
 *
 * @throws Error, for the log
 */
export async function fetchDocument(
  url: URL,
  clock: Clock,
  options: FetchOptions = {},
): Promise<string> {
  const signal = abortAfter(clock, timeoutMs)
  const addresses = await untilAborted((options.resolve ?? resolveAll)(url.hostname), signal)
  const isAllowed = options.isAllowed ?? isPublicAddress
  const [address] = addresses
  if (address === undefined || !addresses.every(isAllowed)) {
    throw new Error('the host has an address that is not public')
  }
  const answer = await send(url, {
    signal,
    lookup: (_host, { all }, done) => {
      const family = address.includes(':') ? 6 : 4
      if (all === true) done(null, [{ address, family }])
      else done(null, address, family)
    },
    ...(options.ca !== undefined && { ca: options.ca }),
  })
  return await readSmall(answer)
}

async function resolveAll(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

/** The system's resolver can't be interrupted: its answer is not waited for. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: () => void = () => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => {
      reject(new Error('the name was not resolved in time'))
    }
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function send(url: URL, options: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { Accept: 'application/json', 'Accept-Encoding': 'identity' }
    // An agent would keep the connection for another request.
    request(url, { ...options, agent: false, headers }, resolve)
      .once('error', reject)
      .end()
  })
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
