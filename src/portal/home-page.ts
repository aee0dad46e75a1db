import type { ShownDataset } from '../service/showcase.js'
import { codeBlock } from './code-block.js'
import { html } from './html.js'
import type { Html } from './html.js'
import { layout } from './layout.js'
import { plansTable } from './plans.js'
import type { Words } from './portal-words-en.js'
import type { Setting } from './setting.js'

/** The first page: what there is, what it costs, and a line that works. */
export function homePage(
  setting: Setting,
  datasets: readonly ShownDataset[],
  /** A line that asks with the demo token; null where there is no demo. */
  firstLine: string | null,
): string {
  const { words } = setting
  return layout(
    setting,
    words.service,
    html`<section class="hero">
        <h1>${words.headline}</h1>
        <p class="lead">${words.lead}</p>
        ${
          firstLine === null
            ? null
            : html`<p>${words.tryLine}</p>
                ${codeBlock(words, firstLine)}`
        }
      </section>
      ${datasets.length === 0 ? nothingListed(setting) : listed(setting, datasets)}
      ${doors(setting)}`,
  )
}

function nothingListed({ words }: Setting): Html {
  return html`<section class="nothing">
    <h2>${words.nothingListed}</h2>
    <p>${words.nothingListedMore}</p>
  </section>`
}

function listed(setting: Setting, datasets: readonly ShownDataset[]): Html {
  const { words } = setting
  return html`<section>
      <h2 id="datasets">${words.datasets}</h2>
      <div class="cards">${datasets.map((dataset) => card(setting, dataset))}</div>
    </section>
    <section>
      <h2 id="plans">${words.plans}</h2>
      ${datasets.map((dataset) => plansOf(words, dataset))}
      <p class="muted">${words.yearNote}</p>
    </section>`
}

function card(setting: Setting, dataset: ShownDataset): Html {
  const { words, link } = setting
  const price = priceText(setting, dataset)
  return html`<article class="card">
    <h3><a href="${link(`/datasets/${dataset.name}`)}">${dataset.title}</a></h3>
    ${dataset.description === null ? null : html`<p>${dataset.description}</p>`}
    ${datasetFacts(setting, dataset)}
    <p class="card-foot">
      <a class="button" href="${link(`/datasets/${dataset.name}`)}">${words.open}</a>
      ${price === null ? null : html`<span class="muted">${price}</span>`}
    </p>
  </article>`
}

/** The lowest price, in words; null where nothing is sold. */
function priceText({ words }: Setting, { plans }: ShownDataset): string | null {
  const [cheapest] = plans.toSorted((left, right) => left.monthRub - right.monthRub)
  if (!cheapest) return null
  if (cheapest.monthRub > 0) return words.fromPrice(words.roubles(cheapest.monthRub))
  return words.freePlan(words.number(cheapest.rowsPerMonth))
}

function plansOf(words: Words, { name, title, plans }: ShownDataset): Html {
  return html`<h3 id="plans-${name}">${title}</h3>
    ${plansTable(words, plans, `plans-${name}`)}`
}

/** Rows, columns, freshness and source of a dataset. */
export function datasetFacts({ words }: Setting, dataset: ShownDataset): Html {
  const { rows, columns, asOf, source } = dataset
  return html`<dl class="facts">
    <div>
      <dt>${words.rows}</dt>
      <dd>${words.number(rows)}</dd>
    </div>
    <div>
      <dt>${words.columns}</dt>
      <dd>${words.number(columns.length)}</dd>
    </div>
    <div>
      <dt>${words.asOf}</dt>
      <dd><time datetime="${asOf}">${words.day(asOf)}</time></dd>
    </div>
    ${
      source === null
        ? null
        : html`<div class="source">
            <dt>${words.source}</dt>
            <dd>${source}</dd>
          </div>`
    }
  </dl>`
}

function doors({ words, link, base, root }: Setting): Html {
  return html`<section>
    <h2 id="doors">${words.doors}</h2>
    <div class="doors">
      <article>
        <h3>${words.restDoor}</h3>
        <p>${words.restText}</p>
        <p><a href="${link('/docs')}">${words.restLink}</a></p>
      </article>
      <article>
        <h3>${words.mcpDoor}</h3>
        <p>${words.mcpText} <code>${base}/mcp/</code></p>
        <p class="muted">${words.mcpLink}</p>
      </article>
      <article>
        <h3>${words.filesDoor}</h3>
        <p>${words.filesText}</p>
        <p><a href="${root}/openapi.json">${words.filesLink}</a></p>
      </article>
    </div>
  </section>`
}
