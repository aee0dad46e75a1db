import { typeOperators } from '../columns/column-types.js'
import type { ShownType } from '../columns/column-types.js'
import type { ColumnDescription } from '../service/descriptions.js'
import type { ShownDataset } from '../service/showcase.js'
import { codeBlock } from './code-block.js'
import { datasetFacts } from './home-page.js'
import { html } from './html.js'
import type { Html } from './html.js'
import { layout } from './layout.js'
import type { PageContext } from './page-context.js'
import { plansTable } from './plans.js'

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
export function datasetPage(context: PageContext, dataset: ShownDataset, trial: Trial): string {
  const { words } = context
  return layout(
    context,
    `${dataset.title} · ${words.service}`,
    html`<section class="about">
        <h1>${dataset.title}</h1>
        ${dataset.description === null ? null : html`<p class="lead">${dataset.description}</p>`}
        ${datasetFacts(context, dataset)}
      </section>
      ${explorer(context, dataset, trial)}
      <section>
        <h2 id="plans">${words.plans}</h2>
        ${plansTable(words, dataset.plans, 'plans')}
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
  const { words, link } = context
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
      data-limit="${dataset.limit.default}"
      data-limit-max="${dataset.limit.max}"
      data-demo-token="${token ?? ''}"
      data-query="${query}"
      data-usage="${link('/usage')}"
    ></div>
  </section>`
}

function columnsSection({ words }: PageContext, { columns }: ShownDataset): Html {
  return html`<section>
    <h2 id="columns">${words.columns}: ${words.number(columns.length)}</h2>
    <div id="column-search" hidden>
      <label for="column-words">${words.search}</label>
      <input id="column-words" type="search" autocomplete="off" aria-describedby="column-hint" />
      <p class="muted" id="column-hint">${words.columnsText}</p>
      <p class="muted" role="status"></p>
    </div>
    <div class="wide tall" role="region" tabindex="0" aria-labelledby="columns">
      <table id="column-table">
        <thead>
          <tr>
            <th scope="col">${words.name}</th>
            <th scope="col">${words.type}</th>
            <th scope="col">${words.unit}</th>
            <th scope="col">${words.description}</th>
          </tr>
        </thead>
        <tbody>
          ${columns.map(columnRow)}
        </tbody>
      </table>
    </div>
    ${typesTable(words, columns)}
  </section>`
}

function columnRow({ name, type, unit, description }: ColumnDescription): Html {
  return html`<tr data-name="${name}" data-type="${type}">
    <th scope="row"><code>${name}</code></th>
    <td>${type}</td>
    <td>${unit}</td>
    <td>${description}</td>
  </tr>`
}

function typesTable(words: PageContext['words'], columns: readonly ColumnDescription[]): Html {
  const types = [...new Set(columns.map(({ type }) => type))]
  return html`<h3 id="by-type">${words.byType}</h3>
    <p class="muted">${words.filterForm}</p>
    <div class="wide" role="region" tabindex="0" aria-labelledby="by-type">
      <table id="type-table">
        <thead>
          <tr>
            <th scope="col">${words.type}</th>
            <th scope="col">${words.operatorsOf}</th>
          </tr>
        </thead>
        <tbody>
          ${types.map(typeRow)}
        </tbody>
      </table>
    </div>`
}

function typeRow(type: ShownType): Html {
  return html`<tr>
    <th scope="row">${type}</th>
    <td>${typeOperators[type].map((operator) => html`<code>${operator}</code> `)}</td>
  </tr>`
}
