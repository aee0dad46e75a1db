import { plainText } from '../plain-text.js'
import type { ShownColumn, ShownDataset, ShownEntity } from '../service/showcase.js'
import { codeBlock } from './code-block.js'
import { fact, html } from './html.js'
import type { Html } from './html.js'
import { layout } from './layout.js'
import type { PageContext } from './page-context.js'

/** A column of the page with its value in each row, newest first: JSON texts. */
interface Line {
  readonly column: ShownColumn
  readonly values: readonly string[]
}

const empty = 'null'

/**
 * Renders the page of one entity, such as a company: what it is, and its figures by section, a
 * column for each period. `line` is the command that reads the same rows.
 */
export function entityPage(
  context: PageContext,
  dataset: ShownDataset,
  shown: ShownEntity,
  line: string,
): string {
  const { words, link } = context
  const { key, rows } = shown
  const { entity } = dataset
  const [newest] = rows
  const name = textOf(newest?.get(entity?.name ?? '') ?? empty) || key
  const periods = rows.map((row) => textOf(row.get(entity?.period ?? '') ?? empty))
  const lines = dataset.columns.map((column): Line => {
    return { column, values: rows.map((row) => row.get(column.name) ?? empty) }
  })
  const figures = lines.filter(
    ({ column, values }) => column.isQuantity && values.some((value) => value !== empty),
  )
  const facts = lines.filter(
    ({ column, values }) =>
      !column.isQuantity &&
      values[0] !== empty &&
      ![entity?.name, entity?.period].includes(column.name),
  )
  return layout(
    context,
    {
      title: `${name} · ${dataset.title}`,
      description: words.entityDescription(name, key, periods.at(-1) ?? '', periods[0] ?? ''),
    },
    html`<section class="about">
        <p><a href="${link(`/datasets/${dataset.name}`)}">${dataset.title}</a></p>
        <h1>${name}</h1>
        <dl class="facts">
          ${facts.map(({ column, values }) =>
            fact(column.label ?? column.name, meaning(shown, column, values[0] ?? empty)),
          )}
        </dl>
        ${shown.isCut ? html`<p>${words.entityCut(words.number(rows.length))}</p>` : null}
      </section>
      ${[...Map.groupBy(figures, ({ column }) => column.section ?? words.figures)].map(
        ([section, own], index) => sectionTable(context, { section, index, lines: own, periods }),
      )}
      <section>
        <h2>${words.sameRows}</h2>
        ${codeBlock(words, line)}
      </section>`,
  )
}

interface Section {
  readonly section: string
  readonly index: number
  readonly lines: readonly Line[]
  readonly periods: readonly string[]
}

function sectionTable({ words }: PageContext, { section, index, lines, periods }: Section): Html {
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
            <th scope="col">${words.figure}</th>
            <th scope="col">${newest}</th>
            ${isCompared ? html`<th scope="col">${words.change}</th>` : null}
            ${earlier.map((period) => html`<th scope="col">${period}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${lines.map(({ column, values: [last = empty, ...before] }) => {
            return html`<tr>
              <th scope="row">${heading(column, isOfAll ? null : column.unit)}</th>
              <td>${figure(words, last)}</td>
              ${isCompared ? html`<td>${changeText(words, last, before[0] ?? empty)}</td>` : null}
              ${before.map((value) => html`<td>${figure(words, value)}</td>`)}
            </tr>`
          })}
        </tbody>
      </table>
    </div>
  </section>`
}

/** The label with the code, and the unit where it is not that of the section. */
function heading({ name, label }: ShownColumn, unit: string | null): Html {
  const beside = [label === null ? null : name, unit].filter((each) => each !== null).join(', ')
  return html`${label ?? name}${beside === '' ? null : html` <span class="muted">${beside}</span>`}`
}

function figure(words: PageContext['words'], value: string): string {
  return value === empty ? '–' : words.digits(textOf(value)).replace(/^-/, '\u2212')
}

/** From the period before to the newest; nothing where a value is missing or was 0. */
function changeText(words: PageContext['words'], last: string, before: string): string {
  const [to, from] = [last, before].map((value) => (value === empty ? NaN : Number(textOf(value))))
  const change = ((to ?? NaN) - (from ?? NaN)) / Math.abs(from ?? NaN)
  return Number.isFinite(change) ? words.signedShare(change) : ''
}

/** The value, and what it means if it is a code. */
function meaning({ codes }: ShownEntity, { name }: ShownColumn, value: string): string {
  const text = textOf(value)
  const label = codes.get(name)
  return label === undefined ? text : `${text} · ${label}`
}

/** The text of a JSON value. */
function textOf(json: string): string {
  if (json === empty) return ''
  return json.startsWith('"') ? plainText(String(JSON.parse(json))) : json
}
