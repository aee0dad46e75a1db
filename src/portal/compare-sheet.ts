import type { ComparedLine } from '../service/compare.js'
import type { ShownRow } from '../service/entity-rows.js'
import type { Sheet, SheetTable } from '../sheet/sheet.js'
import { comparedSides, comparisonLink } from './compare-page.js'
import type { ComparisonView } from './compare-page.js'
import { figuresTable } from './entity-sheet.js'
import { entityWords } from './entity-words.js'
import type { PageContext } from './page-context.js'

/** A comparison as a workbook: its table, each other period as a sheet, and what they are. */
export function compareSheet(context: PageContext, view: ComparisonView): Sheet {
  const say = entityWords(context.language)
  const { dataset, comparison, lines } = view
  const { entities, period, periods, medians } = comparison
  const sides = comparedSides(context, view)
  const table = (name: string, rows: readonly (ShownRow | null)[]): SheetTable => {
    const headings = sides.slice(0, rows.length).map(({ title, beside }) => `${title} (${beside})`)
    return figuresTable(
      say,
      name,
      headings,
      lines.map((line) => lineOf(line, rows)),
    )
  }
  const others = periods.filter((each) => each !== period)
  const names = entities.map(({ name, key }) => `${name} (${key})`).join('; ')
  const url = new URL(comparisonLink(context, view), context.base).href
  const units = new Set(lines.flatMap(({ unit }) => unit ?? []))
  const isMore = comparison.isCut || medians.some(({ refusal }) => refusal !== null)
  const count = entities.reduce((sum, { rows }) => sum + rows.size, 0)
  return {
    format: 'xlsx',
    tables: [
      table(
        period || dataset.name,
        sides.map(({ row }) => row),
      ),
      ...others.map((each) =>
        table(
          each,
          entities.map(({ rows }) => rows.get(each) ?? null),
        ),
      ),
    ],
    about: [
      [say.about.title, `${say.compareTitle(entities.length)} · ${dataset.title}`],
      [say.about.question, names],
      [say.about.link, url],
      [say.about.source, dataset.source ?? ''],
      [say.about.version, `${dataset.version}, ${context.words.day(dataset.updatedAt)}`],
      [say.about.units, [...units].join(', ')],
      [say.about.rows, `${count}${isMore ? `; ${say.about.more}` : ''}`],
    ],
  }
}

function lineOf({ key, isMeasure, ...line }: ComparedLine, rows: readonly (ShownRow | null)[]) {
  return { ...line, values: rows.map((row) => row?.get(key) ?? 'null') }
}
