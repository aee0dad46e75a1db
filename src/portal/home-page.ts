import type { ShownDataset } from '../service/showcase.js'
import { intro } from './brand.js'
import { codeBlock } from './code-block.js'
import { searchForm } from './found-page.js'
import { fact, html } from './html.js'
import type { Html } from './html.js'
import { layout } from './layout.js'
import type { PageContext } from './page-context.js'
import { plansTable } from './plans.js'
import type { FindPlanWay } from './plans.js'
import { catalogData } from './structured-data.js'

/** Renders the first page: datasets, prices, and a command that works. */
export function homePage(
  context: PageContext,
  datasets: readonly ShownDataset[],
  /** A command with the demo token; null if there is no demo. */
  firstLine: string | null,
  planWay: FindPlanWay,
): string {
  const { words } = context
  const searched = datasets.find((dataset) => searchForm(context, dataset) !== null)
  return layout(
    context,
    {
      title: words.service,
      description: words.lead,
      data: catalogData(context, datasets),
    },
    html`<section class="hero">
        <h1>${words.headline}</h1>
        ${intro(context) ?? html`<p class="lead">${words.lead}</p>`}
        ${searched ? searchForm(context, searched, { isTitled: datasets.length > 1 }) : null}
        ${
          firstLine === null || context.person
            ? null
            : html`<p>${words.tryLine}</p>
                ${codeBlock(words, firstLine)}`
        }
      </section>
      ${
        datasets.length === 0
          ? nothingListed(context)
          : listed(context, datasets, { searched, planWay })
      }
      ${interfaces(context)}`,
  )
}

function nothingListed({ words }: PageContext): Html {
  return html`<section class="nothing">
    <h2>${words.nothingListed}</h2>
    <p>${words.nothingListedMore}</p>
  </section>`
}

function listed(
  context: PageContext,
  datasets: readonly ShownDataset[],
  {
    searched,
    planWay,
  }: {
    /** The one whose search stands at the top of the page. */
    readonly searched: ShownDataset | undefined
    readonly planWay: FindPlanWay
  },
): Html {
  const { words } = context
  const search = (dataset: ShownDataset) =>
    dataset === searched ? null : searchForm(context, dataset)
  return html`<section>
      <h2 id="datasets">${words.datasets}</h2>
      <div class="cards">${datasets.map((each) => card(context, each, search(each)))}</div>
    </section>
    <section>
      <h2 id="plans">${words.plans}</h2>
      ${datasets.map((dataset) => plansOf(context, dataset, planWay))}
      <p class="muted">${words.yearNote}</p>
    </section>`
}

function card(context: PageContext, dataset: ShownDataset, search: Html | null): Html {
  const { words, link } = context
  const price = priceText(context, dataset)
  return html`<article class="card">
    <h3><a href="${link(`/datasets/${dataset.name}`)}">${dataset.title}</a></h3>
    ${dataset.description === null ? null : html`<p>${dataset.description}</p>`}
    ${datasetFacts(context, dataset)} ${search}
    <p class="card-foot">
      <a class="button" href="${link(`/datasets/${dataset.name}`)}">${words.open}</a>
      ${price === null ? null : html`<span class="muted">${price}</span>`}
    </p>
  </article>`
}

/** The lowest price as text; null without plans. */
function priceText({ words }: PageContext, { plans }: ShownDataset): string | null {
  const [cheapest] = plans.toSorted((left, right) => left.monthRub - right.monthRub)
  if (!cheapest) return null
  if (cheapest.monthRub > 0) return words.fromPrice(words.roubles(cheapest.monthRub))
  return words.freePlan(words.number(cheapest.rowsPerMonth))
}

function plansOf(
  context: PageContext,
  { name, title, plans }: ShownDataset,
  planWay: FindPlanWay,
): Html {
  return html`<h3 id="plans-${name}">${title}</h3>
    ${plansTable(context.words, plans, `plans-${name}`, planWay(context, name))}`
}

/** Shows rows, columns, date of the data, last update and source of a dataset. */
export function datasetFacts({ words }: PageContext, dataset: ShownDataset): Html {
  const { rows, columns, asOf, updatedAt, source } = dataset
  const time = (iso: string) =>
    html`<time datetime="${iso}">${iso.length < 10 ? iso : words.day(iso)}</time>`
  return html`<dl class="facts">
    ${fact(words.rows, words.number(rows))} ${fact(words.columns, words.number(columns.length))}
    ${asOf === null ? null : fact(words.asOf, time(asOf))} ${fact(words.updatedAt, time(updatedAt))}
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

function interfaces({ words, link, base, root }: PageContext): Html {
  return html`<section>
    <h2 id="interfaces">${words.interfaces}</h2>
    <div class="interfaces">
      <article>
        <h3>${words.restInterface}</h3>
        <p>${words.restText}</p>
        <p><a href="${link('/docs')}">${words.restLink}</a></p>
      </article>
      <article>
        <h3>${words.mcpInterface}</h3>
        <p>${words.mcpText} <code>${base}/mcp/</code></p>
        <p><a href="${link('/guide')}">${words.mcpLink}</a></p>
      </article>
      <article>
        <h3>${words.filesInterface}</h3>
        <p>${words.filesText}</p>
        <p><a href="${root}/openapi.json">${words.filesLink}</a></p>
      </article>
    </div>
  </section>`
}
