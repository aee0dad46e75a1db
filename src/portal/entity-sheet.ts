import { keepingDigits } from '../query/exact-json.js'
import { textOf } from '../service/entity-rows.js'
import type { ShownEntity, ShownLink } from '../service/entity-rows.js'
import type { ShownDataset } from '../service/showcase.js'
import { cellKind } from '../sheet/sheet.js'
import type { Sheet, SheetTable } from '../sheet/sheet.js'
import { entityLines } from './entity-page.js'
import { entityWords } from './entity-words.js'
import type { EntityWords } from './entity-words.js'
import type { PageContext } from './page-context.js'

const text = { kind: 'text' } as const

/** The page of an entity as a workbook: its figures, each linked dataset, and what they are. */
export function entitySheet(
  context: PageContext,
  dataset: ShownDataset,
  shown: ShownEntity,
): Sheet {
  const say = entityWords(context.language)
  const { name, periods, figures, facts } = entityLines(dataset, shown)
  const lines = figures.map(({ column, values }) => ({ ...column, values }))
  const units = new Set(figures.flatMap(({ column }) => column.unit ?? []))
  const all = [shown, ...shown.links].reduce((sum, each) => sum + each.rows.length, 0)
  const isMore = shown.isCut || shown.links.some(({ isCut, refusal }) => isCut || refusal !== null)
  return {
    format: 'xlsx',
    tables: [
      figuresTable(say, shown.key, periods, lines),
      ...shown.links.filter((link) => link.rows.length > 0).map(linkedTable),
    ],
    about: [
      [say.about.title, `${name} · ${dataset.title}`],
      [say.about.question, say.about.questionText(name, shown.key)],
      ...facts.map(({ column, values: [value = 'null'] }) => {
        const label = shown.meaning(column.name, value)
        const beside = label === null ? '' : ` · ${label}`
        return [column.label ?? column.name, textOf(value) + beside] as const
      }),
      [say.about.link, `${context.base}${context.path}`],
      [say.about.source, sourcesOf(dataset, shown.links)],
      [say.about.version, `${dataset.version}, ${context.words.day(dataset.updatedAt)}`],
      [say.about.units, [...units].join(', ')],
      [say.about.rows, `${all}${isMore ? `; ${say.about.more}` : ''}`],
    ],
  }
}

/** A line of figures: a column or a measure, with a JSON text for each heading. */
export interface SheetLine {
  readonly name: string
  readonly label: string | null
  readonly section: string | null
  readonly unit: string | null
  readonly decimals: number | null
  readonly values: readonly string[]
}

/** Lines of figures below headings, such as periods, with what each line is before them. */
export function figuresTable(
  say: EntityWords,
  name: string,
  headings: readonly string[],
  lines: readonly SheetLine[],
): SheetTable {
  const rows = lines.map(({ section, label, name: code, unit, decimals, values }) => [
    ...[section ?? '', label ?? code, code, unit ?? ''].map((each) => JSON.stringify(each)),
    // A number that a spreadsheet would round becomes text.
    ...(decimals === null ? values : values.map(keepingDigits)),
  ])
  const figure = { kind: 'number', decimals: null } as const
  return {
    name,
    columns: [
      ...[say.section, say.figure, say.code, say.unit].map((each) => ({ name: each, cells: text })),
      ...headings.map((each) => ({ name: each, cells: figure })),
    ],
    rowCells: lines.map(({ unit }) => cellKind('number', null, unit ?? '')),
    lines: linesOf(rows),
  }
}

function sourcesOf(dataset: ShownDataset, links: readonly ShownLink[]): string {
  const all = [dataset, ...links.map((link) => link.dataset)]
  return [...new Set(all.flatMap(({ source }) => source ?? []))].join('\n')
}

function linkedTable({ dataset, column, shown, rows }: ShownLink): SheetTable {
  return {
    name: `${dataset.name} ${column.name}`,
    columns: shown.map(({ name, label, type, unit, decimals }) => ({
      name: [label === null ? name : `${label} (${name})`, unit].filter(Boolean).join(', '),
      cells: cellKind(type, decimals, unit),
    })),
    lines: linesOf(rows.map((row) => shown.map(({ name }) => row.get(name) ?? 'null'))),
  }
}

function linesOf(rows: readonly (readonly string[])[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(rows.map((cells) => `[${cells.join()}]\n`).join(''))
}
