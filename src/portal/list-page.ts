import { keyTypes } from '../lists/judge-key.js'
import type { ShownColumn, ShownDataset } from '../service/showcase.js'
import { codeBlock } from './code-block.js'
import { html } from './html.js'
import type { Html } from './html.js'
import { listWords } from './list-words.js'
import type { PageContext } from './page-context.js'
import { titledPage } from './titled-page.js'

/** The column by which lists are looked up in a dataset; undefined without one. */
function listKey({ columns, history }: ShownDataset): ShownColumn | undefined {
  return columns.find(
    ({ name, isKey, type }) => isKey && name !== history && keyTypes.includes(type),
  )
}

/** Leads to the page of lists; null for a dataset that has none. */
export function listLink({ link, language }: PageContext, dataset: ShownDataset): Html | null {
  if (!listKey(dataset)) return null
  const to = link(`/datasets/${dataset.name}/list`)
  return html`<p><a href="${to}">${listWords(language).link}</a></p>`
}

/** Renders the page that adds columns to a list of keys; null for a dataset without a key. */
export function listPage(
  { assets, ...context }: PageContext,
  dataset: ShownDataset,
  demoToken: string | null,
): string | null {
  const { language, words, base, link } = context
  const key = listKey(dataset)
  if (!key) return null
  const say = listWords(language)
  const { name, title, hasDemo, aggregates, columns, firstColumns } = dataset
  const shown = columns.map(({ name, label, section, description }) => ({
    ...{ name, label: label ?? '', section: section ?? '', description: description ?? '' },
  }))
  const command =
    `DAS_SERVER=${base} DAS_TOKEN=YOUR_TOKEN das enrich list.xlsx --dataset ${name} ` +
    `--key ${key.name} -o new-list.xlsx`
  return titledPage(
    { ...context, assets: { ...assets, script: assets.listScript } },
    `${say.title}: ${title}`,
    html`<p><a href="${link(`/datasets/${name}`)}">${title}</a></p>
      <p class="lead">${say.lead(key.label ?? key.name)}</p>
      <noscript>
        <p>${say.needsScript}</p>
        ${codeBlock(words, command)}
      </noscript>
      <div
        id="list-app"
        data-dataset="${name}"
        data-key="${key.name}"
        data-aggregates="${aggregates ? 'on' : 'off'}"
        data-demo-token="${hasDemo ? demoToken : null}"
        data-columns="${JSON.stringify(shown)}"
        data-first="${JSON.stringify(firstColumns.filter((each) => each !== key.name))}"
      ></div>`,
    say.lead(key.label ?? key.name),
  )
}
