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

/**
 * Schemes without a dot that agents register on devices. Any other of that form may open a program
 * that runs what the address says, such as `ms-msdt:` or `search-ms:`.
 */
const agentSchemes: readonly string[] = [
  'antigravity',
  'claude',
  'cursor',
  'goose',
  'kiro',
  'lmstudio',
  'raycast',
  'vscode',
  'vscode-insiders',
  'vscodium',
  'warp',
  'windsurf',
  'zed',
]

/**
 * Where a redirect URI leads; null for one that is not accepted. Accepted are `https`, `http` on
 * this computer, schemes of known agents, and private-use schemes, which hold a dot (RFC 8252,
 * 7.1); never a fragment or a user name.
 */
export function redirectTarget(uri: string): RedirectTarget | null {
  if (uri.length > lettersMax || !uriPattern.test(uri) || !URL.canParse(uri)) return null
  const url = new URL(uri)
  if (url.username !== '' || url.password !== '') return null
  const scheme = url.protocol.slice(0, -1)
  // `https:a.example` and `https:///a.example` are other addresses to other readers.
  if (/^https?$/.test(scheme) && !/^https?:\/\/[^/]/i.test(uri)) return null
  const isLoopback = isLoopbackName(url.hostname)
  switch (scheme) {
    case 'https':
      return isLoopback ? { kind: 'computer' } : { kind: 'site', host: url.host }
    case 'http':
      return isLoopback ? { kind: 'computer' } : null
    default:
      return scheme.includes('.') || agentSchemes.includes(scheme) ? { kind: 'app', scheme } : null
  }
}
