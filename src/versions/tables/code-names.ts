/** Names of columns whose digits are a code, not a quantity: zeros at the start count. */
const codeNames: ReadonlySet<string> = new Set([
  ...['inn', 'kpp', 'ogrn', 'ogrnip', 'okpo', 'okved', 'okved2', 'oktmo', 'okato', 'okfs', 'okopf'],
  ...['okpd', 'okpd2', 'oksm', 'tnved', 'snils', 'bik', 'bic', 'swift', 'iban', 'lei', 'isin'],
  ...['phone', 'tel', 'telephone', 'fax', 'zip', 'zipcode', 'postcode', 'postal', 'passport'],
  ...['ean', 'upc', 'gtin', 'isbn', 'issn', 'sku', 'barcode', 'vin', 'imei', 'msisdn', 'vat'],
  ...['инн', 'кпп', 'огрн', 'огрнип', 'окпо', 'оквэд', 'оквэд2', 'октмо', 'окато', 'окфс'],
  ...['окопф', 'окпд', 'окпд2', 'оксм', 'снилс', 'бик', 'телефон', 'факс', 'паспорт', 'артикул'],
])

/** Pairs of words with the same meaning: `postal_code`, `reg_number`. */
const codePairs =
  /(^|_)(postal_code|post_code|zip_code|bar_code|reg_number|reg_num|tax_id|почтовый_индекс)(_|$)/

/** Names of columns in which `10.1` and `10.10` are two values; Russian says so first. */
const pointNames = [
  /^(коды?|шифр|номер|версия|(под)?раздел|(под)?пункт|статья|глава|сч[её]т|позиция)(_|$)/,
  /(^|_)(codes?|number|version|ver|section|clause|chapter)$/,
]

/** Whether numbers in a column of this name are codes; `hasPoint` = some have a point. */
export function isCodeName(name: string, hasPoint: boolean): boolean {
  const words = name
    .trim()
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
  const text = words.join('_')
  if (hasPoint && pointNames.some((pattern) => pattern.test(text))) return true
  return words.some((word) => codeNames.has(word)) || codePairs.test(text)
}
