import { ServiceError } from '../errors.js'

interface HostHeaders {
  readonly host?: string | undefined
  readonly origin?: string | undefined
}

const ownNames = ['localhost', '127.0.0.1', '[::1]']

/** The names that requests may call this server by: this machine's own, and those given. */
export function allowedHosts(names: readonly string[]): ReadonlySet<string> {
  return new Set([...ownNames, ...names.map((name) => name.toLowerCase())])
}

/**
 * Refuses what a web page could send by way of a browser on this machine: a foreign `Host` (DNS
 * rebinding) and a foreign `Origin`. Ports do not matter; no `Origin` is no browser.
 * @throws forbidden
 */
export function requireAllowed(headers: HostHeaders, allowed: ReadonlySet<string>): void {
  if (!allowed.has(hostName(`http://${headers.host}`))) {
    throw new ServiceError(
      'forbidden',
      'This host name is not served here. The owner adds it with --allowed-hosts or --public-url.',
    )
  }
  if (headers.origin !== undefined && !allowed.has(hostName(headers.origin))) {
    throw new ServiceError('forbidden', 'Pages of this origin may not call this server.')
  }
}

/** Lower case, without port; empty for what is no address. */
function hostName(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}
