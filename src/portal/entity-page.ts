import { textOf } from '../service/entity-rows.js'
import type { ShownEntity } from '../service/entity-rows.js'
import type { ShownColumn, ShownDataset } from '../service/showcase.js'
import { shortValues } from './chart/short-values.js'
import { codeBlock } from './code-block.js'
import { entityWords } from './entity-words.js'
import { fact, html } from './html.js'
import type { Html } from './html.js'
import { layout } from './layout.js'
import { lineFigure } from './line-figure.js'
import { linkedRows } from './linked-rows.js'
import { lineFields } from './line-choice.js'
import type { PageContext } from './page-context.js'
import { queryLink } from './page-query.js'
import { columnHeading, valueText } from './shown-value.js'
import { columnTitle, floatDigits } from './writers.js'

/** A column of the page with its value in each row, newest first: JSON texts. */
export interface Line {
  readonly column: ShownColumn
  readonly values: readonly string[]
}

export interface EntityView {
  readonly dataset: ShownDataset
  readonly shown: ShownEntity
  /** The command that reads the same rows. */
  readonly line: string
  /** The lines that the chart shows; empty = those that a first question shows. */
  readonly drawn: readonly string[]
  /** What the page cost, for people who pay; null for visitors. */
  readonly paid: Html | null
}

const empty = 'null'
/** Each has a colour of its own. */
const drawnMax = 6

/** The name of an entity in its newest row, and what the rows say, line by line. */
export function entityLines({ entity, columns }: ShownDataset, { key, rows }: ShownEntity) {
  const [newest] = rows
  const lines = columns.map((column): Line => {
    return { column, values: rows.map((row) => row.get(column.name) ?? empty) }
  })
  return {
    name: textOf(newest?.get(entity?.name ?? '') ?? empty) || key,
    periods: rows.map((row) => textOf(row.get(entity?.period ?? '') ?? empty)),
    figures: lines.filter(
      ({ column, values }) => column.isQuantity && values.some((value) => value !== empty),
    ),
    facts: lines.filter(
      ({ column, values }) =>
        !column.isQuantity &&
        values[0] !== empty &&
        ![entity?.name, entity?.period].includes(column.name),
    ),
  }
}

/**
 * Renders the page of one entity, such as a company: what it is, its figures by section, a column
 * for each period, a chart of some, and the rows of other datasets that are linked to it.
 */
export function entityPage(context: PageContext, view: EntityView): string {
  const { words, link, language } = context
  const { dataset, shown, line } = view
  const say = entityWords(language)
  const { name, periods, figures, facts } = entityLines(dataset, shown)
  const [last = '', first = ''] = [periods[0], periods.at(-1)]
  return layout(
    context,
    {
      title: `${name} · ${dataset.title}`,
      description: view.paid === null ? say.description(name, shown.key, first, last) : null,
    },
    html`<section class="about">
        <p><a href="${link(`/datasets/${dataset.name}`)}">${dataset.title}</a></p>
        <h1>${name}</h1>
        <dl class="facts">
          ${facts.map(({ column, values: [value = empty] }) =>
            fact(column.label ?? column.name, valueText(context, column, value, shown.meaning)),
          )}
        </dl>
        ${shown.isCut ? html`<p>${say.cut(shown.rows.length)}</p>` : null} ${view.paid}
        ${actions(context, view)}
      </section>
      ${chartSection(context, view, figures)}
      ${[...Map.groupBy(figures, ({ column }) => column.section ?? say.figures)].map(
        ([section, own], index) => sectionTable(context, { section, index, lines: own, periods }),
      )}
      ${shown.links.map((each, index) => linkedRows(context, each, shown.key, index))}
      <section>
        <h2>${say.sameRows}</h2>
        ${codeBlock(words, line)}
      </section>`,
  )
}

/** What to do with the entity: a file of it, a comparison with others. */
function actions(context: PageContext, { dataset, shown }: EntityView): Html {
  const { root, language, path } = context
  const say = entityWords(language)
  return html`<div class="actions">
    <a class="button" href="${queryLink(context, path, [['format', 'xlsx']])}" download
      >${say.download}</a
    >
    <form class="find" action="${root}/datasets/${dataset.name}/find" role="search">
      <label for="compare-with">${say.compareWith}</label>
      <input id="compare-with" name="q" type="search" maxlength="200" required />
      <input name="with" type="hidden" value="${shown.key}" />
      <input name="lang" type="hidden" value="${language}" />
      <button>${say.find}</button>
    </form>
  </div>`
}

/** The chosen lines that have the unit of the first, over all periods. */
function chartSection(
  context: PageContext,
  { dataset, shown, drawn }: EntityView,
  figures: readonly Line[],
): Html | null {
  const { entity, firstColumns } = dataset
  const { language } = context
  const say = entityWords(language)
  const wanted = drawn.length > 0 ? drawn : firstColumns
  const chosen = figures.filter(({ column }) => wanted.includes(column.name))
  const lines = chosen.length > 0 ? chosen : figures.slice(0, 1)
  const [first] = lines
  const times = shown.rows.map((row) => timeOf(row.get(entity?.period ?? '') ?? empty))
  if (!first || times.some(({ x }) => x === null) || times.length < 2) return null
  const ofUnit = lines.filter(({ column }) => column.unit === first.column.unit)
  const same = ofUnit.slice(0, drawnMax)
  const others = lines
    .filter((each) => !same.includes(each))
    .map(({ column }) => columnTitle(column))
  const notDrawn = say.notDrawn(drawnMax, others.join(', '))
  const short = shortValues(language, first.column.unit ?? '')
  const series = same.map(({ column, values }) => ({
    name: column.label ?? column.name,
    points: times
      .flatMap((time, at) => {
        const json = values[at] ?? empty
        const text = textOf(json)
        const yText = column.decimals === null ? floatDigits(text) : text
        return text === '' ? [] : { ...time, name: '', y: Number(text), yText }
      })
      .toReversed(),
  }))
  const title = [say.chart, short.unit].filter((text) => text !== '').join(', ')
  return html`<section>
    ${lineFigure(context, { title, series, times, short, isJoined: true })}
    ${others.length > 0 ? html`<p class="muted">${notDrawn}</p>` : null}
    ${lineChoice(context, figures, lines)}
  </section>`
}

/** A year is its number, another time its milliseconds; null for what is no time. */
function timeOf(json: string): { readonly x: number | null; readonly xText: string } {
  const text = textOf(json)
  const x = json.startsWith('"') ? Date.parse(text) : Number(text || NaN)
  return { x: Number.isFinite(x) ? x : null, xText: text }
}

function lineChoice(
  { language }: PageContext,
  figures: readonly Line[],
  chosen: readonly Line[],
): Html {
  const say = entityWords(language)
  const offered = figures.map(({ column }) => ({
    ...column,
    section: column.section ?? say.figures,
  }))
  return html`<details class="choice">
    <summary>${say.chooseLines}</summary>
    <form>
      <input name="lang" type="hidden" value="${language}" />
      ${lineFields(
        offered,
        chosen.map(({ column }) => column.name),
      )}
      <p><button>${say.draw}</button></p>
    </form>
  </details>`
}

interface Section {
  readonly section: string
  readonly index: number
  readonly lines: readonly Line[]
  readonly periods: readonly string[]
}

function sectionTable(context: PageContext, { section, index, lines, periods }: Section): Html {
  const say = entityWords(context.language)
  const id = `section-${index}`
  const [unit = null, ...others] = new Set(lines.map(({ column }) => column.unit))
  const isOfAll = unit !== null && others.length === 0
  const [newest = '', ...earlier] = periods
  const isCompared = earlier.length > 0
  return html`<section>
    <h2 id="${id}">${section}${isOfAll ? html`<span class="muted">, ${unit}</span>` : null}</h2>
    <div class="wide" role="region" tabindex="0" aria-labelledby="${id}">
      <table class="figures">
        <thead>
          <tr>
            <th scope="col">${say.figure}</th>
            <th scope="col">${newest}</th>
            ${isCompared ? html`<th scope="col">${say.change}</th>` : null}
            ${earlier.map((period) => html`<th scope="col">${period}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${lines.map(({ column, values: [last = empty, ...before] }) => {
            return html`<tr>
              <th scope="row">${columnHeading(column, isOfAll ? null : column.unit)}</th>
              <td>${valueText(context, column, last)}</td>
              ${isCompared ? html`<td>${changeText(context, last, before[0] ?? empty)}</td>` : null}
              ${before.map((value) => html`<td>${valueText(context, column, value)}</td>`)}
            </tr>`
          })}
        </tbody>
      </table>
    </div>
  </section>`
}

/** From the period before to the newest; nothing where a value is missing or was 0. */
function changeText({ words }: PageContext, last: string, before: string): string {
  const [to, from] = [last, before].map((value) => Number(textOf(value) || NaN))
  const change = ((to ?? NaN) - (from ?? NaN)) / Math.abs(from ?? NaN)
  return Number.isFinite(change) ? words.signedShare(change) : ''
}
