import type { FastifyRequest } from 'fastify'
import { sessionCookieAt } from '../access/session-cookie.js'
import type { SignedIn } from '../access/signed-in.js'
import { rootPath } from '../config.js'
import type { Language } from '../config.js'
import { textIn } from '../registry/local-text.js'
import { titleIn } from '../registry/portal-schema.js'
import type { PortalSettings } from '../registry/portal-schema.js'
import type { Assets } from './assets.js'
import { isLanguage, languageOf } from './language.js'
import type { PortalWords } from './portal-words-en.js'
import type { SignedInParts } from './signed-in.js'
import { wordsOf } from './words.js'

/** The texts of pages, with the owner's own in their places. */
interface PageWords extends PortalWords {
  /** What the service is called: scripts, which are the same for all owners, have no name of it. */
  readonly service: string
}

/** What every page needs besides its content. */
export interface PageContext {
  readonly language: Language
  readonly words: PageWords
  /** Whose portal it is. */
  readonly portal: PortalSettings
  readonly assets: Assets
  /** Who is signed in; null for visitors. */
  readonly person: SignedIn | null
  /** Whether people can sign in at this address of the service. */
  readonly canSignIn: boolean
  /** The public address of the service, without a trailing slash. */
  readonly base: string
  /** The path prefix behind a proxy; usually empty. */
  readonly root: string
  /** The path of the page. */
  readonly path: string
  /** The page with its query, below the path prefix: where a person returns to. */
  readonly here: string
  /** The page's own address for the web, with the chosen language and no other parameter. */
  readonly address: string
  /** A link to a page of the portal; it keeps the chosen language. */
  readonly link: (path: string) => string
  /** A link to the same page in a language; it keeps what the address asks for. */
  readonly languageLink: (language: Language) => string
}

/** What all pages of a server are made with. */
export interface Site {
  readonly assets: Assets
  /** The public address; null = the address of the request. */
  readonly publicUrl: string | null
  /** Whose portal it is, by the present registry. */
  readonly portal: () => PortalSettings
  /** Counts a request without a token against its address. @throws rate_limit_exceeded */
  readonly admitVisitor: (address: string) => void
  readonly signedIn: SignedInParts
}

/**
 * Counts a visitor's request for a page, and returns the context of the page.
 * @throws rate_limit_exceeded; service_unavailable where it can't be read who is signed in
 */
export async function visit(site: Site, request: FastifyRequest): Promise<PageContext> {
  site.admitVisitor(request.ip)
  return pageContextOf(site, request, await site.signedIn.find(request))
}

/** A link to the sign-in, which leads back to this path. */
export function signInLink({ link }: Pick<PageContext, 'link'>, next: string): string {
  const to = link('/sign-in')
  return `${to}${to.includes('?') ? '&' : '?'}next=${encodeURIComponent(next)}`
}

/** The address of the service for a request: the public one, or the request's own. */
export function baseOf(publicUrl: string | null, request: FastifyRequest): string {
  return publicUrl ?? `${request.protocol}://${request.host}`
}

/** The context of a requested page. Without a public address, the request's own address is used. */
export function pageContextOf(
  { assets, publicUrl, portal: present, signedIn }: Site,
  request: FastifyRequest,
  person: SignedIn | null = null,
): PageContext {
  const [asked = '', query] = request.url.split('?', 2)
  const path = asked.replace(/(?<=.)\/$/, '')
  const chosen = new URLSearchParams(query).get('lang')
  const language = languageOf(chosen, request.headers['accept-language'])
  const root = rootPath(publicUrl)
  const suffix = isLanguage(chosen) ? `?lang=${chosen}` : ''
  const portal = present()
  const base = baseOf(publicUrl, request)
  return {
    language,
    words: ownWords(language, portal),
    portal,
    assets,
    person,
    canSignIn: signedIn.isOpen && sessionCookieAt(base) !== null,
    base,
    root,
    path,
    here: request.method === 'GET' ? request.url : '/',
    address: `${base}${path}${suffix}`,
    link: (to) => `${root}${to}${suffix}`,
    languageLink: (to) => {
      const own = new URLSearchParams(query)
      own.set('lang', to)
      return `?${own}`
    },
  }
}

/** The texts of pages, with the owner's title, headline and footer where the registry has them. */
function ownWords(language: Language, portal: PortalSettings): PageWords {
  const words = wordsOf(language)
  const { headline, footer } = portal
  return {
    ...words,
    service: titleIn(language, portal),
    headline: headline === null ? words.headline : textIn(language, headline),
    footer: footer === null ? words.footer : textIn(language, footer),
  }
}
