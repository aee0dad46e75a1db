import { badRequest } from '../../errors.js'
import { reservedDatasetNames } from '../../registry/registry-rules.js'
import { quoted } from '../../text.js'

const nameLettersMax = 64

/** Names that tools give to any file, whatever its content. */
const genericName =
  /^(data|dataset|files?|parquet|output|out|export|tmp|temp|downloads?|part[-_ ].*|\d+)$/i

const latin: Readonly<Record<string, string>> = {
  ...{ а: 'a', б: 'b', в: 'v', г: 'g', ґ: 'g', д: 'd', е: 'e', ё: 'e', є: 'ye', ж: 'zh', з: 'z' },
  ...{ и: 'i', і: 'i', ї: 'yi', й: 'y', к: 'k', л: 'l', м: 'm', н: 'n', о: 'o', п: 'p', р: 'r' },
  ...{ с: 's', т: 't', у: 'u', ў: 'u', ф: 'f', х: 'kh', ц: 'ts', ч: 'ch', ш: 'sh', щ: 'shch' },
  ...{ ъ: '', ы: 'y', ь: '', э: 'e', ю: 'yu', я: 'ya', ß: 'ss', ø: 'o', æ: 'ae', ł: 'l', đ: 'd' },
}

/** The first of these texts that is not a generic name. */
export function specificText(texts: readonly string[]): string {
  const trimmed = texts.map((text) => text.normalize('NFC').replace(/^[\s._-]+|[\s._-]+$/g, ''))
  return trimmed.find((text) => nameOf(text) !== '' && !genericName.test(text)) ?? 'dataset'
}

/** A text as a dataset's name: Latin letters, digits and underscores; may be empty. */
function nameOf(text: string): string {
  return [...text.normalize('NFC').toLowerCase()]
    .map((letter) => latin[letter] ?? letter)
    .join('')
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, nameLettersMax)
    .replace(/^_+|_+$/g, '')
}

/** A text as a dataset's name that is not taken. */
export function freeName(text: string, taken: ReadonlySet<string>): string {
  const name = nameOf(text) || 'dataset'
  const isFree = (each: string) => !reservedDatasetNames.includes(each) && !taken.has(each)
  if (isFree(name)) return name
  for (let number = 2; ; number++) {
    const tail = `_${number}`
    const numbered = name.slice(0, nameLettersMax - tail.length) + tail
    if (isFree(numbered)) return numbered
  }
}

/** @throws bad_request for a name that is invalid or taken */
export function requireName(name: string, taken: ReadonlySet<string>): void {
  if (!/^[a-z0-9_]{1,64}$/.test(name)) {
    throw badRequest(`A dataset's name must be 1 to 64 of a-z, 0-9 and "_", got ${quoted(name)}.`)
  }
  if (reservedDatasetNames.includes(name)) throw badRequest(`The name "${name}" is reserved.`)
  if (!taken.has(name)) return
  throw badRequest(
    `The registry already has "${name}". Change its files there, or use another --name.`,
  )
}

/** A text as a title: words that begin with a capital letter. */
export function titleOf(text: string): string {
  const words = text
    .normalize('NFC')
    .replace(/(\p{Ll})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/[\s_.-]+/g, ' ')
    .trim()
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** The common start of the texts, without a number or date that is cut. */
export function commonStart(texts: readonly string[]): string {
  const [first = ''] = texts
  let length = first.length
  for (const text of texts) while (!text.startsWith(first.slice(0, length))) length--
  const start = first.slice(0, length)
  return texts.length === 1 ? start : start.replace(/[\d\s._-]+$/, '')
}
