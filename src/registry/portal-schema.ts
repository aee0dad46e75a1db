import Type from 'typebox'
import type { Static } from 'typebox'
import { isInn, isKpp } from '../columns/tax-number.js'
import type { Language } from '../config.js'
import { textIn } from './local-text.js'
import type { LocalText } from './local-text.js'
import { objectOf, problemAt, recordOf } from './shape.js'
import type { ShapeProblem } from './shape.js'

const text = Type.String({ minLength: 1, maxLength: 500, description: 'a text' })
const localText = Type.Union(
  [text, Type.Object({ en: text, ru: text }, { additionalProperties: false })],
  { description: 'a text, or an object {en, ru}' },
)
const file = Type.String({ minLength: 1, description: 'the path of a file' })
const localFile = Type.Union(
  [file, Type.Object({ en: file, ru: file }, { additionalProperties: false })],
  { description: 'the path of a file, or an object {en, ru}' },
)
const email = Type.String({
  pattern: '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$',
  description: 'an e-mail address',
})

const vatText = 'none or a whole percentage, 0 to 30'
const legalShape = 'an object {name, inn, kpp, address, bank, email, phone, vat}'
const LegalSchema = objectOf(legalShape, {
  name: localText,
  inn: Type.Refine(Type.String({ description: 'a valid INN, in quotes' }), isInn),
  kpp: Type.Optional(Type.Refine(Type.String({ description: 'a valid KPP, in quotes' }), isKpp)),
  address: localText,
  bank: Type.Optional(localText),
  email: Type.Optional(email),
  phone: Type.Optional(text),
  vat: Type.Optional(
    Type.Union(
      [Type.Literal('none'), Type.Integer({ minimum: 0, maximum: 30, description: vatText })],
      { description: vatText },
    ),
  ),
})

const PagesSchema = objectOf('an object {terms, privacy, about}', {
  terms: Type.Optional(localFile),
  privacy: Type.Optional(localFile),
  about: Type.Optional(localFile),
})

/** Whose portal it is: `portal:` in registry.yaml. */
export const PortalSchema = objectOf(
  'an object {title, logo, color, headline, intro, footer, owners, legal, pages}',
  {
    title: Type.Optional(localText),
    logo: Type.Optional(
      Type.String({ pattern: '\\.svg$', description: 'the path of an SVG file' }),
    ),
    color: Type.Optional(
      Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: 'a colour, quoted: "#2349b8"' }),
    ),
    headline: Type.Optional(localText),
    intro: Type.Optional(localFile),
    footer: Type.Optional(localText),
    owners: Type.Optional(
      Type.Array(email, { minItems: 1, maxItems: 20, description: 'a list of e-mail addresses' }),
    ),
    legal: Type.Optional(LegalSchema),
    pages: Type.Optional(PagesSchema),
  },
)

/** Who sells, as invoices and pages say it. */
export interface Legal {
  readonly name: LocalText
  readonly inn: string
  readonly kpp: string | null
  readonly address: LocalText
  readonly bank: LocalText | null
  readonly email: string | null
  readonly phone: string | null
  /** The percentage of VAT that prices include; null where none is charged. */
  readonly vatPercent: number | null
}

/** The names of pages that the owner writes; each is the address of its page. */
export const ownPages = ['terms', 'privacy', 'about'] as const
export type OwnPage = (typeof ownPages)[number]

/** Whose portal it is; null and empty where the registry does not say. */
export interface PortalSettings {
  readonly title: LocalText | null
  /** `#` and six hexadecimal digits. */
  readonly color: string | null
  readonly headline: LocalText | null
  readonly footer: LocalText | null
  readonly owners: readonly string[]
  readonly legal: Legal | null
  /** The content of the logo, an SVG image. */
  readonly logo: string | null
  /** Markdown, like the pages. */
  readonly intro: LocalText | null
  readonly pages: Readonly<Partial<Record<OwnPage, LocalText>>>
}

/** What the service is called where the registry does not say. */
const productName = 'Dataset Access Service'

/** What the service is called. */
export function titleIn(language: Language, { title }: PortalSettings): string {
  return textIn(language, title ?? productName)
}

/** A file that `portal` names, by the place of its name. */
export interface PortalFile {
  readonly path: readonly string[]
  readonly file: string
}

type PortalContent = Static<typeof PortalSchema>

/** The files of a checked registry's portal. */
export function portalFiles({ logo, intro, pages = {} }: PortalContent): readonly PortalFile[] {
  return [
    ...filesAt(['portal', 'logo'], logo),
    ...filesAt(['portal', 'intro'], intro),
    ...ownPages.flatMap((name) => filesAt(['portal', 'pages', name], pages[name])),
  ]
}

function filesAt(path: readonly string[], value: LocalText | undefined): readonly PortalFile[] {
  if (value === undefined) return []
  if (typeof value === 'string') return [{ path, file: value }]
  return Object.entries(value).map(([language, file]) => ({ path: [...path, language], file }))
}

/** The settings of a checked registry; files that are not among the contents are left out. */
export function portalSettings(
  content: PortalContent,
  contents: ReadonlyMap<string, string>,
): PortalSettings {
  const { title = null, color = null, headline = null, footer = null, owners = [] } = content
  const { logo, intro, legal, pages = {} } = content
  const read = (value: LocalText | undefined): LocalText | null => {
    if (value === undefined) return null
    if (typeof value === 'string') return contents.get(value) ?? null
    const [en, ru] = [contents.get(value.en), contents.get(value.ru)]
    return en === undefined || ru === undefined ? null : { en, ru }
  }
  return Object.freeze({
    ...{ title, color, headline, footer, owners },
    legal: legal === undefined ? null : legalOf(legal),
    logo: contents.get(logo ?? '') ?? null,
    intro: read(intro),
    pages: Object.fromEntries(
      ownPages.flatMap((name) => {
        const page = read(pages[name])
        return page === null ? [] : [[name, page]]
      }),
    ),
  })
}

function legalOf({ name, inn, address, ...more }: Static<typeof LegalSchema>): Legal {
  const { kpp = null, bank = null, email: mail = null, phone = null, vat = 'none' } = more
  const vatPercent = vat === 'none' ? null : vat
  return { name, inn, kpp, address, bank, email: mail, phone, vatPercent }
}

/** The least contrast of a text with its background: WCAG 2.2, 1.4.3. */
const contrastMin = 4.5

/** What an owner should know of the portal. The content may have any shape. */
export function portalWarnings(content: unknown): readonly ShapeProblem[] {
  const { portal, shop } = recordOf(content)
  const { color, pages } = recordOf(portal)
  const sells = recordOf(shop)['free'] === true || recordOf(shop)['paid'] === true
  const contrast = typeof color === 'string' ? contrastWithWhite(color) : contrastMin
  return [
    ...(contrast < contrastMin
      ? [
          problemAt(
            ['portal', 'color'],
            `has a contrast of ${contrast.toFixed(1)} with white; texts need ${contrastMin}. ` +
              'Choose a darker colour.',
          ),
        ]
      : []),
    ...(portal !== undefined && sells && recordOf(pages)['privacy'] === undefined
      ? [
          problemAt(
            ['portal'],
            'the shop stores e-mail addresses: say how in "pages: {privacy: FILE}".',
            'pages',
          ),
        ]
      : []),
  ]
}

/** From 1 to 21. Source: WCAG 2.2, "contrast ratio" and "relative luminance". */
function contrastWithWhite(color: string): number {
  const channels = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255)
  const [red = 0, green = 0, blue = 0] = channels.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  )
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
}
