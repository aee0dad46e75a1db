import { html } from './html.js'
import { layout } from './layout.js'
import type { PageContext } from './page-context.js'

/**
 * The API reference: Swagger UI over the OpenAPI document of one dataset, or of all for null. The
 * script asks for the document with the visitor's token, so the page is the same for everybody.
 */
export function referencePage(
  context: PageContext,
  dataset: string | null,
  demoToken: string | null,
): string {
  const { words, root, assets, link } = context
  const { reference } = words.navigation
  const query = dataset === null ? '' : `?dataset=${encodeURIComponent(dataset)}`
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
      <p><a href="${root}/openapi.json${query}">${words.filesLink}</a></p>
      <noscript><p>${words.referenceScript}</p></noscript>
      <div id="reference-token"></div>
      <div id="reference" data-query="${query}" data-demo-token="${demoToken ?? ''}"></div>
      ${script && html`<script type="module" src="${root}${script.path}"></script>`}`,
  )
}
