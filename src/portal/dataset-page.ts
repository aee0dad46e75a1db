import { typeOperators } from '../columns/column-types.js'
import type { ShownType } from '../columns/column-types.js'
import type { ShownColumn, ShownDataset } from '../service/showcase.js'
import { codeBlock } from './code-block.js'
import { datasetFacts } from './home-page.js'
import { searchForm } from './found-page.js'
import { html } from './html.js'
import type { Html } from './html.js'
import { layout } from './layout.js'
import { listLink } from './list-page.js'
import type { PageContext } from './page-context.js'
import { plansTable } from './plans.js'
import type { FindPlanWay } from './plans.js'
import { datasetData } from './structured-data.js'

export interface Trial {
  /** The demo token; null if this dataset has no demo. */
  readonly token: string | null
  /** A query that this token can run, encoded. */
  readonly query: string
  /** The command that runs it. */
  readonly line: string
}

/**
 * Renders one dataset: its description, the explorer, plans and columns. The script reads the
 * columns from the tables of the page and the rest from `data-` attributes.
 */
export function datasetPage(
  context: PageContext,
  dataset: ShownDataset,
  trial: Trial,
  planWay: FindPlanWay,
): string {
  const { words, assets } = context
  return layout(
    { ...context, assets: { ...assets, script: assets.datasetScript } },
    {
      title: `${dataset.title} · ${words.service}`,
      description: dataset.description ?? dataset.title,
      data: datasetData(context, dataset),
    },
    html`<section class="about">
        <h1>${dataset.title}</h1>
        ${dataset.description === null ? null : html`<p class="lead">${dataset.description}</p>`}
        ${datasetFacts(context, dataset)} ${searchForm(context, dataset)}
        ${listLink(context, dataset)}
      </section>
      ${explorer(context, dataset, trial)}
      <section>
        <h2 id="plans">${words.plans}</h2>
        ${plansTable(words, dataset.plans, 'plans', planWay(context, dataset.name))}
        <p class="muted">${words.yearNote}</p>
      </section>
      ${columnsSection(context, dataset)}`,
  )
}

function explorer(
  context: PageContext,
  dataset: ShownDataset,
  { token, query, line }: Trial,
): Html {
  const { words } = context
  return html`<section>
    <h2 id="explorer">${words.explorer}</h2>
    <noscript>
      <p>${words.needsScript}</p>
      ${codeBlock(words, line)}
    </noscript>
    <div
      id="explorer-app"
      data-dataset="${dataset.name}"
      data-history="${dataset.history ?? ''}"
      data-aggregates="${dataset.aggregates ? 'on' : 'off'}"
      data-limit="${dataset.limit.default}"
      data-limit-max="${dataset.limit.max}"
      data-demo-token="${token ?? ''}"
      data-query="${query}"
    ></div>
  </section>`
}

function columnsSection({ words }: PageContext, { columns, aggregates }: ShownDataset): Html {
  return html`<section>
    <h2 id="columns">${words.columns}: ${words.number(columns.length)}</h2>
    <div id="column-search" hidden>
      <label for="column-words">${words.search}</label>
      <input id="column-words" type="search" autocomplete="off" aria-describedby="column-hint" />
      <p class="muted" id="column-hint">${words.columnsText}</p>
      <p class="muted" role="status"></p>
    </div>
    ${dataTable({
      id: 'column-table',
      labelId: 'columns',
      region: 'wide tall',
      headings: [words.name, words.type, words.unit, words.description],
      rows: columns.map(columnRow),
    })}
    ${typesTable(words, columns, aggregates)} ${aggregates && measuresTable(words, aggregates)}
  </section>`
}

/** The attributes are for the script. */
function columnRow(column: ShownColumn): Html {
  const { name, label, section, type, unit, description } = column
  const isFloat = type === 'number' && column.decimals === null
  const flags = {
    ...{ key: column.isKey, quantity: column.isQuantity, float: isFloat },
    codes: column.codeNames !== null,
  }
  const set = Object.entries(flags).flatMap(([flag, isSet]) => (isSet ? flag : []))
  return html`<tr
    data-name="${name}"
    data-label="${label ?? ''}"
    data-section="${section ?? ''}"
    data-type="${type}"
    data-flags="${set.join(' ')}"
    data-levels="${JSON.stringify(column.levels ?? {})}"
    data-level-labels="${JSON.stringify(column.level_labels ?? {})}"
  >
    <th scope="row">${label === null ? null : html`${label} `}<code>${name}</code></th>
    <td>${type}</td>
    <td>${unit}</td>
    <td>${description}</td>
  </tr>`
}

type Aggregates = ShownDataset['aggregates']

function typesTable(
  words: PageContext['words'],
  columns: readonly ShownColumn[],
  aggregates: Aggregates,
): Html {
  const types = [...new Set(columns.map(({ type }) => type))]
  return html`<h3 id="by-type">${words.byType}</h3>
    <p class="muted">${words.filterForm}</p>
    ${dataTable({
      id: 'type-table',
      labelId: 'by-type',
      headings: [
        ...[words.type, words.operatorsOf],
        ...(aggregates ? [words.measuresOf, words.groupsOf] : []),
      ],
      rows: types.map((type) => typeRow(type, aggregates)),
    })}`
}

function typeRow(type: ShownType, aggregates: Aggregates): Html {
  const functions = aggregates?.functions.find((each) => each.type === type)
  return html`<tr>
    <th scope="row">${type}</th>
    ${codesCell(typeOperators[type])}
    ${functions ? [codesCell(functions.measures), codesCell(functions.group)] : null}
  </tr>`
}

function codesCell(texts: readonly string[]): Html {
  return html`<td>${texts.map((text) => html`<code>${text}</code> `)}</td>`
}

function measuresTable(
  words: PageContext['words'],
  { measures }: NonNullable<Aggregates>,
): Html | null {
  if (measures.length === 0) return null
  return html`<h3 id="measures">${words.measures}</h3>
    ${dataTable({
      id: 'measure-table',
      labelId: 'measures',
      headings: [words.name, words.unit, words.description],
      rows: measures.map(
        ({ name, label, unit, description }) =>
          html`<tr data-name="${name}" data-label="${label ?? ''}">
            <th scope="row">${label === null ? null : html`${label} `}<code>${name}</code></th>
            <td>${unit}</td>
            <td>${description}</td>
          </tr>`,
      ),
    })}`
}

interface DataTable {
  readonly id: string
  /** The id of the heading that names it. */
  readonly labelId: string
  /** The classes of the region that scrolls it. */
  readonly region?: string
  readonly headings: readonly string[]
  readonly rows: readonly Html[]
}

/** A table of facts, which the script also reads. */
function dataTable({ id, labelId, region = 'wide', headings, rows }: DataTable): Html {
  return html`<div class="${region}" role="region" tabindex="0" aria-labelledby="${labelId}">
    <table id="${id}">
      <thead>
        <tr>
          ${headings.map((heading) => html`<th scope="col">${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`
}
