import { isLoopbackName, takesSignIn } from '../../config.js'

/** Where agents sign in. */
export type SignInPlace =
  | { readonly kind: 'public'; readonly issuer: string }
  /** At the address that a client on this machine asks. */
  | { readonly kind: 'loopback' }
  | { readonly kind: 'none'; readonly reason: string }

/** Where a server with these settings lets agents sign in. */
export function signInPlace(settings: {
  readonly publicUrl: string | null
  readonly host: string
}): SignInPlace {
  const { publicUrl, host } = settings
  const name = host.includes(':') ? `[${host}]` : host
  if (publicUrl === null) {
    if (isLoopbackName(name)) return { kind: 'loopback' }
    return { kind: 'none', reason: 'DAS_PUBLIC_URL is not set' }
  }
  if (!takesSignIn(publicUrl)) {
    return { kind: 'none', reason: 'DAS_PUBLIC_URL is not https, or has a path' }
  }
  const { protocol, origin } = new URL(publicUrl)
  return protocol === 'https:' ? { kind: 'public', issuer: origin } : { kind: 'loopback' }
}

/** The issuer for a request with this `Host`; null where agents can't sign in. */
export function issuerFor(place: SignInPlace, host: string | undefined): string | null {
  switch (place.kind) {
    case 'public':
      return place.issuer
    case 'loopback': {
      const address = `http://${host}`
      if (host === undefined || !URL.canParse(address)) return null
      const { hostname, origin } = new URL(address)
      // A foreign name could be any web page's (DNS rebinding).
      return isLoopbackName(hostname) ? origin : null
    }
    case 'none':
      return null
  }
}
