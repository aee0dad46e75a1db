import type { ShownDataset, ShownEntry } from '../service/showcase.js'
import { encodeForUrl } from '../query/write-url.js'
import { html } from './html.js'
import type { Html } from './html.js'
import type { PageContext } from './page-context.js'
import { titledPage } from './titled-page.js'

/**
 * The search for entities by name, which works without a script; null for a dataset that visitors
 * can't search.
 */
export function searchForm(
  { words, root, language }: PageContext,
  dataset: ShownDataset,
  q = '',
): Html | null {
  const { name, entity, columns, hasDemo } = dataset
  if (!entity || !hasDemo) return null
  const id = `find-${name}`
  const called = (column: string | null) =>
    columns.find((each) => each.name === column)?.label ?? column ?? words.name
  return html`<form class="find" action="${root}/datasets/${name}/find" role="search">
    <label for="${id}">${words.findLabel(called(entity.name), called(entity.key))}</label>
    <input id="${id}" name="q" type="search" value="${q}" maxlength="200" required />
    <input name="lang" type="hidden" value="${language}" />
    <button>${words.find}</button>
  </form>`
}

/** Renders what a search has found for visitors. */
export function foundPage(
  context: PageContext,
  dataset: ShownDataset,
  q: string,
  entries: readonly ShownEntry[],
): string {
  const { words, link } = context
  const item = ({ key, name, period, matched }: ShownEntry) => {
    const to = link(`/datasets/${dataset.name}/${encodeForUrl(key)}`)
    const also = matched === name || matched === key ? null : html` · ${matched}`
    return html`<li>
      <a href="${to}">${name ?? key}</a>
      <span class="muted">${[key, period].filter((each) => each !== null).join(' · ')}${also}</span>
    </li>`
  }
  return titledPage(
    context,
    words.foundTitle(q),
    html`<p><a href="${link(`/datasets/${dataset.name}`)}">${dataset.title}</a></p>
      ${searchForm(context, dataset, q)}
      ${
        entries.length === 0
          ? html`<p>${words.foundNothing}</p>`
          : html`<ul class="found">
              ${entries.map(item)}
            </ul>`
      }
      <p class="muted">${words.foundScope}</p>`,
  )
}
