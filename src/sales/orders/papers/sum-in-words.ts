import type { Language } from '../../../config.js'
import { pluralChooser } from '../../../wording.js'

const thousand = 1000

/**
 * A sum in words with its unit, as invoices have it: `Одна тысяча рублей 00 копеек`, `One thousand
 * roubles 00 kopecks`. For 0 to 999,999,999,999,999 whole roubles.
 *
 * @throws RangeError for another number
 */
export function sumInWords(language: Language, roubles: number): string {
  if (!Number.isInteger(roubles) || roubles < 0 || roubles >= thousand ** 5) {
    throw new RangeError(`${roubles} roubles can't be written in words`)
  }
  const words = language === 'ru' ? russian(roubles) : english(roubles)
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

/** The groups of three digits of a number, the highest first, with their power of a thousand. */
function groupsOf(value: number): readonly { readonly amount: number; readonly power: number }[] {
  const groups: { amount: number; power: number }[] = []
  for (let rest = value, power = 0; rest > 0; rest = Math.floor(rest / thousand), power += 1) {
    if (rest % thousand > 0) groups.unshift({ amount: rest % thousand, power })
  }
  return groups
}

const russianPlural = pluralChooser('ru')
const russianHundreds =
  ' сто двести триста четыреста пятьсот шестьсот семьсот восемьсот девятьсот'.split(' ')
const russianTens =
  '  двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто'.split(' ')
const russianOnes = (
  ' один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать ' +
  'четырнадцать пятнадцать шестнадцать семнадцать восемнадцать девятнадцать'
).split(' ')
const russianPowers = [
  null,
  { one: 'тысяча', few: 'тысячи', other: 'тысяч' },
  { one: 'миллион', few: 'миллиона', other: 'миллионов' },
  { one: 'миллиард', few: 'миллиарда', other: 'миллиардов' },
  { one: 'триллион', few: 'триллиона', other: 'триллионов' },
] as const
const roubleForms = { one: 'рубль', few: 'рубля', other: 'рублей' }

function russian(roubles: number): string {
  const parts = groupsOf(roubles).flatMap(({ amount, power }) => {
    const forms = russianPowers[power]
    return [...russianGroup(amount, power === 1), ...(forms ? [russianPlural(amount, forms)] : [])]
  })
  const number = parts.length === 0 ? 'ноль' : parts.join(' ')
  return `${number} ${russianPlural(roubles, roubleForms)} 00 копеек`
}

/** Thousands are feminine: одна тысяча, две тысячи. */
function russianGroup(amount: number, isFeminine: boolean): readonly string[] {
  const { hundreds, tens, ones } = placesOf(amount)
  const feminine = isFeminine ? ['', 'одна', 'две'][ones] : undefined
  const words = [russianHundreds[hundreds], russianTens[tens], feminine ?? russianOnes[ones]]
  return words.flatMap((word) => word || [])
}

/** The places of a number below a thousand; 10 to 19 count as ones. */
function placesOf(amount: number) {
  const belowHundred = amount % 100
  const isTeen = belowHundred >= 10 && belowHundred < 20
  return {
    hundreds: Math.floor(amount / 100),
    tens: isTeen ? 0 : Math.floor(belowHundred / 10),
    ones: isTeen ? belowHundred : belowHundred % 10,
  }
}

const englishTens = '  twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const englishOnes = (
  ' one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen ' +
  'sixteen seventeen eighteen nineteen'
).split(' ')
const englishPowers = ['', ' thousand', ' million', ' billion', ' trillion']

function english(roubles: number): string {
  const parts = groupsOf(roubles).map(
    ({ amount, power }) => `${englishGroup(amount)}${englishPowers[power] ?? ''}`,
  )
  const number = parts.length === 0 ? 'zero' : parts.join(' ')
  return `${number} ${roubles === 1 ? 'rouble' : 'roubles'} 00 kopecks`
}

function englishGroup(amount: number): string {
  const { hundreds, tens, ones } = placesOf(amount)
  const below = [englishTens[tens], englishOnes[ones]].flatMap((word) => word || []).join('-')
  const above = hundreds === 0 ? [] : [`${englishOnes[hundreds]} hundred`]
  return [...above, ...(below === '' ? [] : [below])].join(' ')
}
