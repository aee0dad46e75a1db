import { comparedKeys } from '../service/compare.js'
import type { ComparedLine, Comparison, LevelMedian } from '../service/compare.js'
import type { ShownRow } from '../service/entity-rows.js'
import { textOf } from '../service/entity-rows.js'
import type { ShownDataset } from '../service/showcase.js'
import { encodeForUrl } from '../query/write-url.js'
import { barSpans } from './chart/bar-spans.js'
import { shortValues } from './chart/short-values.js'
import { entityWords } from './entity-words.js'
import { searchForm, withKeys } from './found-page.js'
import { html } from './html.js'
import type { Html } from './html.js'
import { lineFields } from './line-choice.js'
import type { PageContext } from './page-context.js'
import { keptFields, queryLink } from './page-query.js'
import type { QueryParts } from './page-query.js'
import { columnHeading, valueText } from './shown-value.js'
import { titledPage } from './titled-page.js'
import { floatDigits } from './writers.js'

export interface ComparisonView {
  readonly dataset: ShownDataset
  readonly comparison: Comparison
  readonly keys: readonly string[]
  /** How the address says they are compared. */
  readonly kept: QueryParts
  readonly lines: readonly ComparedLine[]
  readonly choices: readonly ComparedLine[]
  /** More lines were chosen. */
  readonly isCut: boolean
  /** The line of the chart. */
  readonly drawn: ComparedLine
  readonly paid: Html | null
}

/** An entity, or the median of a level. */
interface Side {
  readonly title: string
  readonly beside: string
  readonly href: string | null
  readonly row: ShownRow | null
}

/** Renders entities side by side: one table and one chart of one period. */
export function comparePage(context: PageContext, view: ComparisonView): string {
  const { link, language } = context
  const { dataset, comparison, drawn, paid } = view
  const { entities, medians, missing } = comparison
  const say = entityWords(language)
  const sides = comparedSides(context, view)
  return titledPage(
    context,
    say.compareTitle(entities.length),
    html`<p><a href="${link(`/datasets/${dataset.name}`)}">${dataset.title}</a></p>
      ${missing.length === 0 ? null : html`<p>${say.missingKeys(missing.join(', '))}</p>`}
      ${medians.map(({ refusal, ...median }) =>
        refusal === null
          ? null
          : html`<p>${medianTitle(context, median)}: ${context.words.refusals[refusal]}</p>`,
      )}
      ${comparison.isCut ? html`<p>${say.groupsCut}</p>` : null}
      ${view.isCut ? html`<p>${say.linesMax(view.lines.length)}</p>` : null} ${paid}
      ${periodLinks(context, view)} ${barChart(context, drawn, sides)}
      ${table(context, view, sides)}
      <p>
        <a class="button" href="${comparisonLink(context, view, { format: 'xlsx' })}" download
          >${say.download}</a
        >
      </p>
      ${lineForm(context, view)} ${moreForm(context, view)}`,
  )
}

/** The entities in the chosen period, then the medians that could be read. */
export function comparedSides(
  context: PageContext,
  { dataset, comparison }: Pick<ComparisonView, 'dataset' | 'comparison'>,
): readonly Side[] {
  const { entities, period, medians } = comparison
  return [
    ...entities.map(({ key, name, rows }) => ({
      title: name,
      beside: key,
      href: context.link(`/datasets/${dataset.name}/${encodeForUrl(key)}`),
      row: rows.get(period) ?? null,
    })),
    ...medians
      .filter(({ refusal }) => refusal === null)
      .map((median) => medianSide(context, median)),
  ]
}

/** The search for one entity more. */
function moreForm(context: PageContext, { dataset, keys, kept }: ComparisonView): Html | null {
  const more = [...withKeys(keys), ...kept]
  return keys.length < comparedKeys.max ? searchForm(context, dataset, { kept: more }) : null
}

function medianSide(context: PageContext, median: LevelMedian): Side {
  const beside = entityWords(context.language).medianRows(median.rows)
  return { title: medianTitle(context, median), beside, href: null, row: median.row }
}

function medianTitle(
  { language }: PageContext,
  { level, meaning }: Pick<LevelMedian, 'level' | 'meaning'>,
): string {
  return entityWords(language).median(meaning === null ? level : `${level} · ${meaning}`)
}

/** This page with some parameters changed, or its workbook. */
export function comparisonLink(
  context: PageContext,
  view: ComparisonView,
  changed: { readonly period?: string; readonly chart?: string; readonly format?: 'xlsx' } = {},
): string {
  const { keys, lines, comparison, drawn } = view
  const { period = comparison.period, chart = drawn.name, format } = changed
  return queryLink(context, context.path, [
    ...keys.map((key) => ['keys', key] as const),
    ...lines.map(({ name }) => ['line', name] as const),
    ['period', period],
    ['chart', chart],
    ...(format === undefined ? [] : [['format', format] as const]),
  ])
}

function periodLinks(context: PageContext, view: ComparisonView): Html | null {
  const { periods, period } = view.comparison
  if (periods.length < 2) return null
  return html`<p>
    ${entityWords(context.language).period}:
    ${periods.map((each) =>
      each === period
        ? html`<b aria-current="true">${each}</b> `
        : html`<a href="${comparisonLink(context, view, { period: each })}">${each}</a> `,
    )}
  </p>`
}

const empty = 'null'

function barChart(context: PageContext, line: ComparedLine, sides: readonly Side[]): Html | null {
  const short = shortValues(context.language, line.unit ?? '')
  const bars = sides.flatMap((side) => {
    const text = textOf(side.row?.get(line.key) ?? empty)
    return text === '' ? [] : [{ side, text, value: Number(text) }]
  })
  const spans = barSpans(bars.map(({ value }) => value))
  const percent = (part = 0) => `${Math.round(part * 10_000) / 100}%`
  if (bars.length === 0) return null
  const unit = short.unit === '' ? '' : `, ${short.unit}`
  return html`<figure class="chart">
    <figcaption>${line.label}${unit}</figcaption>
    <ol class="bars">
      ${bars.map(
        ({ side, text }, at) =>
          html`<li>
            <span
              >${side.title}
              ${side.href === null ? html`<span class="muted">${side.beside}</span>` : null}</span
            >
            <svg aria-hidden="true">
              <rect
                class="${side.href === null ? 's5' : 's0'}"
                x="${percent(spans[at]?.start)}"
                width="${percent(spans[at]?.length)}"
                height="100%"
              />
            </svg>
            <span class="number" title="${short.exact(exactDigits(line, text))}"
              >${short.writeExact(text)}</span
            >
          </li>`,
      )}
    </ol>
  </figure>`
}

function table(context: PageContext, view: ComparisonView, sides: readonly Side[]): Html {
  const say = entityWords(context.language)
  const { lines, comparison } = view
  return html`<div class="wide" role="region" tabindex="0" aria-label="${say.lines}">
    <table class="figures compared">
      <thead>
        <tr>
          <th scope="col">${say.figure}, ${comparison.period}</th>
          ${sides.map(({ title, beside, href }) => {
            const name = href === null ? title : html`<a href="${href}">${title}</a>`
            return html`<th scope="col">${name} <span class="muted">${beside}</span></th>`
          })}
        </tr>
      </thead>
      <tbody>
        ${lines.map(
          (line) =>
            html`<tr>
              <th scope="row">
                <a href="${comparisonLink(context, view, { chart: line.name })}"
                  >${columnHeading(line, line.unit)}</a
                >
              </th>
              ${sides.map(({ row }) => valueCell(context, line, row?.get(line.key) ?? empty))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function exactDigits({ decimals }: ComparedLine, text: string): string {
  return decimals === null ? floatDigits(text) : text
}

/** What is computed is written in short, with its digits in the title. */
function valueCell(context: PageContext, line: ComparedLine, json: string): Html {
  const text = textOf(json).replace(/\.0$/, '')
  if (line.isMeasure && text !== '') {
    const { writeExact, exact } = shortValues(context.language, line.unit ?? '')
    return html`<td title="${exact(exactDigits(line, text))}">${writeExact(text)}</td>`
  }
  const { name, unit, decimals } = line
  const column = { name, unit, decimals, type: 'number', isQuantity: true } as const
  return html`<td>${valueText(context, column, text || empty)}</td>`
}

function lineForm(
  context: PageContext,
  { keys, lines, choices, comparison, drawn }: ComparisonView,
): Html {
  const say = entityWords(context.language)
  const kept = [
    ...keys.map((key) => ['keys', key] as const),
    ...[['period', comparison.period] as const, ['chart', drawn.name] as const],
  ]
  return html`<details class="choice">
    <summary>${say.chooseLines}</summary>
    <form>
      ${keptFields(context, kept)}
      ${lineFields(
        choices.map(({ section, ...line }) => ({ ...line, section: section ?? say.figures })),
        lines.map(({ name }) => name),
      )}
      <p><button>${say.compare}</button></p>
    </form>
  </details>`
}
