import { ServiceError } from '../errors.js'

interface HostHeaders {
  readonly host?: string | undefined
  readonly origin?: string | undefined
}

const ownNames = ['localhost', '127.0.0.1', '[::1]']

/** The host names that requests may use: those of this machine and the given ones. */
export function allowedHosts(names: readonly string[]): ReadonlySet<string> {
  return new Set([...ownNames, ...names.map((name) => name.toLowerCase())])
}

/**
 * Refuses requests that a web page could send through a browser on this machine: a foreign `Host`
 * (DNS rebinding) or a foreign `Origin`. Ports do not matter. Other clients send no `Origin`.
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

/** Lower case, without port; empty when it is not an address. */
function hostName(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : ''
}
