import type { ShownDataset } from '../service/showcase.js'
import { html } from './html.js'
import type { Html } from './html.js'
import { layout } from './layout.js'
import type { PageContext } from './page-context.js'

/**
 * The API reference: Swagger UI over the OpenAPI document of one dataset; for null, of what belongs
 * to none, with the list of datasets. The script asks for the document with the visitor's token.
 */
export function referencePage(
  context: PageContext,
  dataset: string | null,
  { datasets, demoToken }: Shown,
): string {
  const { words, root, assets, link } = context
  const { reference } = words.navigation
  const query = `?dataset=${encodeURIComponent(dataset ?? '')}`
  const { referenceScript: script, referenceStyle: style } = assets
  return layout(
    context,
    {
      title: `${dataset ?? reference} · ${dataset === null ? words.service : reference}`,
      description: dataset === null ? words.referenceText : null,
    },
    html`${style && html`<link rel="stylesheet" href="${root}${style.path}" />`}
      ${dataset === null ? null : html`<p><a href="${link('/docs')}">${reference}</a></p>`}
      <h1>${dataset === null ? reference : html`<code>/v1/${dataset}</code>`}</h1>
      <p class="lead">${words.referenceText}</p>
      <p><a href="${root}/openapi.json${dataset === null ? '' : query}">${words.filesLink}</a></p>
      <noscript><p>${words.referenceScript}</p></noscript>
      <div id="reference-token"></div>
      ${dataset === null ? listOf(context, datasets) : null}
      <div id="reference" data-query="${query}" data-demo-token="${demoToken ?? ''}"></div>
      ${script && html`<script type="module" src="${root}${script.path}"></script>`}`,
  )
}

interface Shown {
  readonly datasets: readonly Pick<ShownDataset, 'name' | 'title'>[]
  readonly demoToken: string | null
}

/** The script replaces it by the datasets of the visitor's token. */
function listOf({ link }: PageContext, datasets: Shown['datasets']): Html {
  return html`<ul id="reference-datasets">
    ${datasets.map(
      ({ name, title }) =>
        html`<li>
          <a href="${link(`/docs/${name}`)}"><code>/v1/${name}</code></a> ${title}
        </li>`,
    )}
  </ul>`
}
