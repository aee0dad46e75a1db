import type { FastifyRequest } from 'fastify'
import { rootPath } from '../config.js'
import type { Language } from '../config.js'
import type { Assets } from './assets.js'
import { isLanguage, languageOf } from './language.js'
import type { Words } from './portal-words-en.js'
import { wordsOf } from './words.js'

/** Everything that a page depends on besides what it shows. */
export interface Setting {
  readonly language: Language
  readonly words: Words
  readonly assets: Assets
  /** The service's address as its users see it, without a slash at its end. */
  readonly base: string
  /** What stands in front of every path behind a proxy; usually nothing. */
  readonly root: string
  /** The path of the page. */
  readonly path: string
  /** A link to a page of ours; it keeps a language that was chosen. */
  readonly link: (path: string) => string
}

/** The setting of a page that is asked for; without a public address, as it was asked at. */
export function settingOf(
  request: FastifyRequest,
  assets: Assets,
  publicUrl: string | null,
): Setting {
  const [path = '', query] = request.url.split('?', 2)
  const chosen = new URLSearchParams(query).get('lang')
  const language = languageOf(chosen, request.headers['accept-language'])
  const root = rootPath(publicUrl)
  const suffix = isLanguage(chosen) ? `?lang=${chosen}` : ''
  return {
    language,
    words: wordsOf(language),
    assets,
    base: publicUrl ?? `${request.protocol}://${request.host}`,
    root,
    path,
    link: (to) => `${root}${to}${suffix}`,
  }
}
