import type { ReferenceEntry } from '../../service/reference.js'
import { html } from '../html.js'
import type { Html } from '../html.js'
import { layout } from '../layout.js'
import type { PageContext } from '../page-context.js'
import { markdown } from './markdown.js'
import { operationsOf } from './operations.js'
import { partAt, textAt } from './parts.js'
import type { Part } from './parts.js'
import { operationsOn, sectionsWithContents, sharedSections, trail } from './reference-frame.js'

/** The tag of the operations that belong to no dataset. */
const serviceTag = 'Service'

/** The reference's first page: the datasets, the rules of all of them, token and server. */
export function referencePage(
  context: PageContext,
  datasets: readonly ReferenceEntry[],
  document: Part,
  token: string,
): string {
  const { words, root } = context
  const operations = operationsOf(document, serviceTag)
  const rules = markdown(textAt(partAt(document, 'info'), 'description'))
  return layout(
    context,
    {
      title: `${words.navigation.reference} · ${words.service}`,
      description: words.referenceText,
    },
    html`${trail(context, null)}
      <h1>${words.navigation.reference}</h1>
      <p class="lead">${words.referenceText}</p>
      <p><a href="${root}/openapi.json">${words.filesLink}</a></p>
      <div id="reference-token"></div>
      ${sectionsWithContents([
        { id: 'datasets', title: 'Datasets', content: datasetList(context, datasets) },
        { id: 'rules', title: 'Requests and filters', content: html`${rules}` },
        operationsOn(context, 'Token and server', operations, token),
        ...sharedSections(document, operations),
      ])}`,
  )
}

function datasetList({ link }: PageContext, datasets: readonly ReferenceEntry[]): Html {
  if (datasets.length === 0) return html`<p>No dataset is listed. A token shows its own.</p>`
  const item = ({ name, title }: ReferenceEntry) =>
    html`<li>
      <a href="${link(`/docs/${name}`)}"><code>/v1/${name}</code></a> ${title}
    </li>`
  return html`<ul>
    ${datasets.map(item)}
  </ul>`
}
