import { lookup } from 'node:dns/promises'
import { request } from 'node:https'
import type { RequestOptions } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { abortAfter } from '../clock.js'
import type { Clock } from '../clock.js'
import { isPublicAddress } from './special-addresses.js'

/** How public hosts are found; tests have a resolver and a certificate of their own. */
export interface HostOptions {
  /** All addresses of a host name. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  readonly isAllowed?: (address: string) => boolean
  /** Certificates to trust besides those of Node. */
  readonly ca?: string | Buffer
}

/** Why a host is not asked; its text may be shown to who named the host. */
export class HostError extends Error {}

/** A request to a public host. */
export interface HostRequest extends Pick<RequestOptions, 'method' | 'headers'> {
  readonly body?: string
  /** For the name, the connection and the whole answer. */
  readonly timeoutMs: number
  /** Ends it earlier. */
  readonly signal?: AbortSignal
}

/**
 * Sends a request to an `https` address that a stranger has named, and resolves when the answer
 * begins. The name is resolved once, all its addresses must be public, and the connection goes to
 * one of them; redirects are not followed.
 *
 * @throws Error, for the log
 */
export async function askPublicHost(
  url: URL,
  clock: Clock,
  { timeoutMs, signal: stop, body, ...asked }: HostRequest,
  options: HostOptions = {},
): Promise<IncomingMessage> {
  const limit = abortAfter(clock, timeoutMs)
  const signal = stop ? AbortSignal.any([limit, stop]) : limit
  signal.throwIfAborted()
  const addresses = await untilAborted((options.resolve ?? resolveAll)(hostOf(url)), signal)
  const isAllowed = options.isAllowed ?? isPublicAddress
  const [address] = addresses
  if (address === undefined || !addresses.every(isAllowed)) {
    throw new HostError('the host has an address that is not public')
  }
  return await send(url, body, {
    ...asked,
    signal,
    lookup: (_host, { all }, done) => {
      const family = address.includes(':') ? 6 : 4
      if (all === true) done(null, [{ address, family }])
      else done(null, address, family)
    },
    ...(options.ca !== undefined && { ca: options.ca }),
  })
}

/** The name or the address of the host, IPv6 without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

async function resolveAll(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

/** The system's resolver can't be interrupted: its answer is not waited for. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: () => void = () => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => {
      reject(new HostError('the name was not resolved in time'))
    }
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function send(
  url: URL,
  body: string | undefined,
  options: RequestOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // An agent would keep the connection for another request.
    request(url, { ...options, agent: false }, resolve)
      .once('error', reject)
      // Of an answer that switches protocols (101), Node reports only that the connection ended.
      .once('close', () => reject(new HostError('the connection ended without an answer')))
      .end(body)
  })
}
