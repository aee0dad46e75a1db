import type { Column } from '../columns/column.js'
import type { Language } from '../config.js'
import { badRequest } from '../errors.js'
import { quoted } from '../text.js'
import { isSheetFormat } from './page-format.js'
import type { PageFormat } from './page-format.js'

/** What the first line of a file says of its columns; left out, as the format has it. */
export interface RawHeadings {
  readonly header: 'label' | 'code' | null
  readonly language: Language | null
}

/** Parameters. A filter on a column of such a name has an operator: `lang=eq.ru`. */
export const headingNames: readonly string[] = ['header', 'lang']

/**
 * The choice of headings, if there is one.
 * @throws bad_request for a value that is none of those that a parameter has
 */
export function parseHeadings(parameters: ReadonlyMap<string, string>): {
  readonly headings?: RawHeadings
} {
  const header = parameters.get('header') ?? null
  if (header !== null && header !== 'label' && header !== 'code') {
    throw badRequest(`header must be label or code, got ${quoted(header)}.`)
  }
  const language = parameters.get('lang') ?? null
  if (language !== null && language !== 'en' && language !== 'ru') {
    throw badRequest(`lang must be en or ru, got ${quoted(language)}.`)
  }
  return header === null && language === null ? {} : { headings: { header, language } }
}

/**
 * The headings of these columns, each once; null for a format that has none to choose. CSV has the
 * names of the columns by default, XLSX has `Revenue (2110)`.
 * @throws bad_request for a choice that the format does not have
 */
export function headingsOf(
  { header, language }: RawHeadings = { header: null, language: null },
  format: PageFormat,
  columns: readonly Column[],
): readonly string[] | null {
  if (format !== 'csv' && !isSheetFormat(format)) {
    if (header === null && language === null) return null
    const name = header === null ? 'lang' : 'header'
    throw badRequest(`${name} needs format=csv or format=xlsx. Leave it out.`)
  }
  const names = columns.map(({ name }) => name)
  const form = header ?? (format === 'xlsx' ? 'both' : 'code')
  if (form === 'code') return names
  const labels = columns.map(
    ({ label, russian }) => (language === 'ru' ? russian.label : null) ?? label,
  )
  const texts = labels.map((label, at) => label ?? names[at] ?? '')
  const isOnce = (text: string) => texts.indexOf(text) === texts.lastIndexOf(text)
  return texts.map((text, at) =>
    labels[at] == null || (form === 'label' && isOnce(text)) ? text : `${text} (${names[at]})`,
  )
}
