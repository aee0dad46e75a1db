import { createHash } from 'node:crypto'
import type { CodeLabels, CodeLevel, CodeNames } from '../columns/codes.js'
import { isGroupable } from '../columns/functions.js'
import type { Column } from '../columns/column.js'
import { plainText } from '../plain-text.js'
import { quoted } from '../text.js'
import { readCsv } from './csv-rows.js'
import type { DatasetEntry } from './registry-schema.js'
import type { Problem } from './registry.js'

/**
 * Reads the names of codes: CSV with a header row, the column `code`, and `name`, `name_ru` or
 * both. A code with one name has it in both languages. Other columns are ignored.
 * @throws Error with the mistake and its line
 */
export function parseCodeLabels(text: string): CodeLabels {
  const plain = new Map<string, string>()
  const russian = new Map<string, string>()
  for (const { record, line } of readCsv(text, 'code')) {
    const { code = '', name, name_ru: russianName } = record
    if (name === undefined && russianName === undefined) {
      throw new Error('the header row has no "name" and no "name_ru"')
    }
    if (code === '') throw new Error(`line ${line} has no code`)
    if (plain.has(code)) throw new Error(`line ${line}: ${quoted(code)} is listed twice`)
    const [first, other] = [plainText(name ?? ''), plainText(russianName ?? '')]
    if (first === '' && other === '') throw new Error(`line ${line}: ${quoted(code)} has no name`)
    plain.set(code, first || other)
    russian.set(code, other || first)
  }
  return Object.freeze({ plain: codeNames(plain), russian: codeNames(russian) })
}

function codeNames(names: ReadonlyMap<string, string>): CodeNames {
  const digest = createHash('sha256')
    .update(JSON.stringify([...names]))
    .digest('hex')
  return Object.freeze({ names, digest })
}

/** The levels of a column in the registry, the shortest first. */
export function codeLevels(levels: Readonly<Record<string, number>> = {}): readonly CodeLevel[] {
  return Object.entries(levels)
    .map(([name, length]) => ({ name, length }))
    .sort((left, right) => left.length - right.length)
}

/** Levels and labels of columns that can't have them. */
export function codeProblems(
  { columns: stated = {} }: DatasetEntry,
  columns: readonly Column[],
): readonly Problem[] {
  return columns.flatMap((column) => {
    const { levels, labels } = Object.hasOwn(stated, column.source)
      ? (stated[column.source] ?? {})
      : {}
    const { name, source, rules } = column
    const problems: Problem[] = []
    if (levels !== undefined && rules.shown !== 'string') {
      const message = `levels are for codes in a text column; ${quoted(name)} is ${rules.shown}`
      problems.push({ path: ['columns', source, 'levels'], message })
    }
    if (labels !== undefined && !isGroupable(column)) {
      const message = `rows can't be grouped by ${quoted(name)} (${rules.shown}): it has no codes`
      problems.push({ path: ['columns', source, 'labels'], message })
    }
    return problems
  })
}

/** Columns marked with `search` that are not stored as text. */
export function searchProblems(
  { columns: stated = {} }: DatasetEntry,
  columns: readonly Column[],
): readonly Problem[] {
  return columns.flatMap(({ name, source, rules: { shown, domain } }) => {
    const isMarked = Object.hasOwn(stated, source) && stated[source]?.search
    if (!isMarked || (domain.kind === 'text' && domain.form === 'text')) return []
    const what = shown === 'string' ? 'not stored as text' : shown
    const message = `search is for text columns; ${quoted(name)} is ${what}`
    return [{ path: ['columns', source, 'search'], message }]
  })
}
