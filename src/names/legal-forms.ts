import { distance } from 'fastest-levenshtein'
import type { Word } from './words.js'

/**
 * Legal forms of companies as they are written in names: those of the Russian classifier OKOPF (OK
 * 028-2012) that companies have, long and short, with marks that a law adds to names of lenders and
 * collectors, forms of the past, of neighbouring countries and in English.
 * Written for this project from common knowledge. Letters are folded as in names (`letters.ts`); a
 * star stands for any ending, common misspellings included. Transliterated forms (`OOO`, `PAO`) are
 * the Russian ones.
 */
const companies = [
  'ооо|обшество с огран* отве*|обшества с огран* отве*|одо|обшество с дополнител* ответ*',
  'о о о|п а о|з а о|о а о',
  'ао|акционерное обшество|пао|публичное акционерное обшество',
  'нао|нпао|непубличное акционерное обшество|акционерного обшества',
  'публичного акционерного обшества',
  'зао|закритое акционерное обшество|оао|откритое акционерное обшество|аоот|аозт',
  'тоо|товаришество с огран* отве*|чп|частное предприятие',
  'мкао|международная компания акционерное обшество',
  'мкпао|международная компания публичное акционерное обшество',
  'мкооо|международная компания обшество с огран* отве*',
  'ип|индивидуал* предпринимател*|кфх|крестян* фермер* хозяиств*|глава кфх',
  'глава крестян* фермер* хозяиств*',
  'llc|l l c|limited liability company|ltd|limited|co ltd|plc|public limited company',
  'jsc|joint stock company|pjsc|public joint stock company|ojsc|open joint stock company',
  'cjsc|closed joint stock company|npjsc|inc|incorporated|corp|corporation|company limited',
  'llp|lp|gmbh|ag|sa|s a|srl|spa|s p a|bv|b v|nv|n v|oy|ab|a s|sarl|sas|kg|pte ltd|sp z o o',
]

/** Forms whose words say what a body is: people ask for them. */
const bodies = [
  'гуп|государственное унитарное предприятие|фгуп|федерал* государств* унитар* предприят*',
  'муп|муниципал* унитар* предприят*|муниципал* предприят*|государственное предприятие',
  'казенное предприятие|фкп|федерал* казен* предприят*|оуп',
  'гку|гбу|гау|государствен* казен* учрежден*|государствен* бюджет* учрежден*',
  'государствен* автоном* учрежден*|государственное учреждение|фку|фгу|фгбу|фгау|фгку',
  'федерал* государствен* бюджет* учрежден*|федерал* государствен* автоном* учрежден*',
  'федерал* государствен* казен* учрежден*|федерал* казен* учрежден*',
  'мку|мбу|мау|муниципал* казен* учрежден*|муниципал* бюджет* учрежден*',
  'муниципал* автоном* учрежден*|муниципал* учрежден*|частное учреждение',
  'гбоу|мбоу|мбдоу|гбуз|фгбоу во|фгаоу во',
  'ппк|публично правовая компания',
  'ано|автоном* некоммерч* организац*|нко|некоммерч* организац*|некоммерч* партнерств*',
  'производствен* кооператив*|потребител* кооператив*|спк|схпк|спок',
  'селскохозяиствен* производствен* кооператив*|селскохозяиствен* потребител* кооператив*',
  'потребител* обшеств*|тсж|тсн|снт|днт|жск|гск',
  'товаришество собственников жиля|товаришество собственников недвижимости',
  'садовод* некоммерч* товаришеств*|жилишно строител* кооператив*',
  'полное товаришество|товаришество на вере|хозяиственное партнерство|простое товаришество',
  'коммандитное товаришество|колхоз|артел*|пк|потребкооператив|обшество взаимного страхования',
  'кпк|кредит* потребител* кооператив* граждан|кредит* потребител* кооператив*',
  'жилишн* кооператив*|жнк|жилишн* накопител* кооператив*|гаражн* кооператив*',
  'гаражно строител* кооператив*|дачн* некоммерч* товаришеств*|дачн* некоммерч* партнерств*',
  'днп|снп|онт|огородн* некоммерч* товаришеств*|садовод* некоммерч* партнерств*',
  'акб|акционер* коммерческ* банк*|нпф|негосударствен* пенсион* фонд*|сро',
  'саморегулируем* организац*|религиоз* организац*|государствен* корпорац*',
  'государственная компания|пко|профессионал* коллектор* организац*|мфк|мкк',
  'микрофинансов* компан*|микрокредит* компан*|микрофинансов* организац*',
  'филиал*|представителств*|обособлен* подразделен*|фгп|федерал* государствен* предприят*',
  'мкп|муниципал* казен* предприят*|федерал* государствен* учрежден*|фбу|фау|фбуз',
  'федерал* бюджет* учрежден* здравоохранения|федерал* бюджет* учрежден*',
  'федерал* автоном* учрежден*|государствен* бюджет* учрежден* здравоохранения',
  'федерал* государствен* бюджет* образовател* учрежден* висшего образования',
  'федерал* государствен* автоном* образовател* учрежден* висшего образования',
  'муниципал* бюджет* обшеобразовател* учрежден*|государствен* бюджет* обшеобразовател* учрежден*',
  'муниципал* бюджет* дошкол* образовател* учрежден*|гбпоу',
  'государствен* бюджет* профессионал* образовател* учрежден*',
]

/** Words of a form with so many letters may have so many changed: one wrong, two swapped. */
const typoStemMin = 8
const stemEditsMax = 2

/** The words of each form, by its first letter. */
type Forms = ReadonlyMap<string, readonly (readonly string[])[]>

const companyForms = byFirstLetter(companies)
const allForms = byFirstLetter([...companies, ...bodies])

function byFirstLetter(spellings: readonly string[]): Forms {
  const found = new Map<string, (readonly string[])[]>()
  for (const form of spellings.join('|').split('|').sort(byWordsDown)) {
    const first = form.slice(0, 1)
    found.set(first, [...(found.get(first) ?? []), form.split(' ')])
  }
  return found
}

function byWordsDown(left: string, right: string): number {
  return right.split(' ').length - left.split(' ').length
}

function stemOf(word: string): string {
  return word.replace('*', '')
}

/**
 * The words without legal forms, which may be anywhere; all of them if nothing else is there.
 * `isTyped`: long words of a form may have a typo.
 */
export function withoutLegalForms(words: readonly Word[], isTyped = false): readonly Word[] {
  return without(words, isTyped, allForms)
}

/** The words without the forms of companies; those of other bodies may be a part of the name. */
export function withoutCompanyForms(words: readonly Word[]): readonly Word[] {
  return without(words, false, companyForms)
}

function without(words: readonly Word[], isTyped: boolean, forms: Forms): readonly Word[] {
  const kept: Word[] = []
  for (let at = 0; at < words.length;) {
    const length = formLength(words, at, isTyped, forms)
    const word = words[at]
    if (length === 0 && word) kept.push(word)
    at += Math.max(length, 1)
  }
  return kept.length === 0 ? words : kept
}

/** How many words at this place are a legal form; 0 for none. */
export function formLength(
  words: readonly Word[],
  at: number,
  isTyped = false,
  known: Forms = allForms,
): number {
  const { text = '', spellings = [] } = words[at] ?? {}
  const firsts = new Set([text, ...spellings].map((spelling) => spelling.slice(0, 1)))
  const forms = [...firsts].flatMap((first) => known.get(first) ?? [])
  const form = forms.find((patterns) =>
    patterns.every((pattern, next) => isWord(pattern, words[at + next], isTyped)),
  )
  return form?.length ?? 0
}

function isWord(pattern: string, word: Word | undefined, isTyped: boolean): boolean {
  if (!word) return false
  const stem = stemOf(pattern)
  const isSame = (text: string) => {
    if (stem === pattern ? text === stem : text.startsWith(stem)) return true
    if (!isTyped || stem.length < typoStemMin) return false
    return distance(stem, stem === pattern ? text : text.slice(0, stem.length)) <= stemEditsMax
  }
  return isSame(word.text) || word.spellings.some(isSame)
}
