import type { ReferenceEntry } from '../../service/reference.js'
import { html } from '../html.js'
import type { Html } from '../html.js'
import { layout } from '../layout.js'
import type { PageContext } from '../page-context.js'
import { curlExample } from './curl-example.js'
import { markdown } from './markdown.js'
import { operationsOf } from './operations.js'
import { operationSection } from './operation-section.js'
import { partAt, textAt } from './parts.js'
import type { Part } from './parts.js'
import { contents, sharedSections, trail } from './reference-frame.js'

/** The tag of the operations that belong to no dataset. */
const serviceTag = 'Service'

/** The reference's first page: the datasets, the rules of all of them, token and server. */
export function referencePage(
  context: PageContext,
  datasets: readonly ReferenceEntry[],
  document: Part,
  token: string,
): string {
  const { words, root, base } = context
  const operations = operationsOf(document, serviceTag)
  return layout(
    context,
    {
      title: `${words.navigation.reference} · ${words.service}`,
      description: words.referenceText,
    },
    html`${trail(context, null)}
      <h1>${words.navigation.reference}</h1>
      <p class="lead">
        ${words.referenceText} <a href="${root}/openapi.json">${words.filesLink}</a>
      </p>
      <div id="reference-token"></div>
      <div class="reference" lang="en">
        ${contents(context, operations, ['datasets', 'filters'])}
        <div>
          ${datasetList(context, datasets)}
          <section>
            <h2 id="filters">Requests and filters</h2>
            ${markdown(textAt(partAt(document, 'info'), 'description'))}
          </section>
          <section>
            <h2 id="operations">Token and server</h2>
            ${operations.map((operation) =>
              operationSection(words, operation, curlExample(operation, base, token)),
            )}
          </section>
          ${sharedSections(document, operations)}
        </div>
      </div>`,
  )
}

function datasetList({ link }: PageContext, datasets: readonly ReferenceEntry[]): Html {
  const item = ({ name, title }: ReferenceEntry) =>
    html`<li>
      <a href="${link(`/docs/${name}`)}"><code>/v1/${name}</code></a> ${title}
    </li>`
  return html`<section>
    <h2 id="datasets">Datasets</h2>
    ${
      datasets.length === 0
        ? html`<p>No dataset is listed. A token shows its own.</p>`
        : html`<ul class="datasets">
            ${datasets.map(item)}
          </ul>`
    }
  </section>`
}
