import { isLoopbackName } from '../../config.js'

/** Who gets the access: what the person must know before they connect. */
export type RedirectTarget =
  | { readonly kind: 'site'; readonly host: string }
  /** A program on the person's own computer. */
  | { readonly kind: 'computer' }
  /** An app that has registered this scheme on the person's device. */
  | { readonly kind: 'app'; readonly scheme: string }

const lettersMax = 500

/** The characters of RFC 3986 without `#`: browsers read others, such as `\`, in their own ways. */
const uriPattern = /^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/

/** Schemes that a browser itself runs or opens: no app receives them. */
const foreignSchemes: readonly string[] = [
  'about',
  'blob',
  'data',
  'file',
  'filesystem',
  'ftp',
  'javascript',
  'mailto',
  'vbscript',
  'view-source',
  'ws',
  'wss',
]

/**
 * Where a redirect URI leads; null for one that is not accepted. Accepted are `https`, `http` on
 * this computer, and schemes of apps; never a fragment or a user name.
 */
export function redirectTarget(uri: string): RedirectTarget | null {
  if (uri.length > lettersMax || !uriPattern.test(uri) || !URL.canParse(uri)) return null
  const url = new URL(uri)
  if (url.username !== '' || url.password !== '') return null
  const scheme = url.protocol.slice(0, -1)
  if (foreignSchemes.includes(scheme)) return null
  const isLoopback = isLoopbackName(url.hostname)
  switch (scheme) {
    case 'https':
      return isLoopback ? { kind: 'computer' } : { kind: 'site', host: url.host }
    case 'http':
      return isLoopback ? { kind: 'computer' } : null
    default:
      return { kind: 'app', scheme }
  }
}
