import type { ShownDataset, ShownEntry } from '../service/showcase.js'
import { encodeForUrl } from '../query/write-url.js'
import { entityWords } from './entity-words.js'
import { html } from './html.js'
import type { Html } from './html.js'
import type { PageContext } from './page-context.js'
import { keptFields } from './page-query.js'
import type { QueryParts } from './page-query.js'
import { titledPage } from './titled-page.js'

/**
 * The search for entities by name, which works without a script; null for a dataset that visitors
 * can't search. `kept` is what the found ones are compared
 * with, and how.
 */
export function searchForm(
  context: PageContext,
  dataset: ShownDataset,
  {
    q = '',
    kept = [],
    isTitled = false,
  }: {
    readonly q?: string
    readonly kept?: QueryParts
    /** It says in which dataset it searches. */
    readonly isTitled?: boolean
  } = {},
): Html | null {
  const { words, root, language, person } = context
  const { name, title, entity, hasDemo } = dataset
  if (!entity || !(hasDemo || person?.payer?.grants.has(name))) return null
  const say = entityWords(language)
  const id = `find-${name}`
  const called = (column: string | null) =>
    column === null ? words.name : labelOf(dataset, column)
  return html`<form class="find" action="${root}/datasets/${name}/find" role="search">
    <label for="${id}"
      >${say.findLabel(called(entity.name), called(entity.key))}${
        isTitled ? html` <span class="muted">· ${title}</span>` : null
      }</label
    >
    <input id="${id}" name="q" type="search" value="${q}" maxlength="200" required />
    ${keptFields(context, kept)}
    <button>${say.find}</button>
  </form>`
}

function labelOf({ columns }: ShownDataset, column: string): string {
  return columns.find(({ name }) => name === column)?.label ?? column
}

/** Entities that what is found is compared with, as parameters of the search. */
export function withKeys(keys: readonly string[]): QueryParts {
  return keys.map((key) => ['with', key])
}

interface Found {
  readonly q: string
  /** The keys of those that are to be compared with what was found. */
  readonly chosen: readonly string[]
  /** How they are to be compared. */
  readonly kept: QueryParts
  readonly entries: readonly ShownEntry[]
  /** What the page cost, for people who pay; null for visitors. */
  readonly paid: Html | null
}

/** Renders what a search has found. Ticked entities are compared. */
export function foundPage(
  context: PageContext,
  dataset: ShownDataset,
  { q, chosen, kept, entries, paid }: Found,
): string {
  const { link, root, language } = context
  const say = entityWords(language)
  // Their names would be read, and charged, once more.
  const keyLabel = labelOf(dataset, dataset.entity?.key ?? '')
  const item = ({ key, name, period, matched }: ShownEntry) => {
    const to = link(`/datasets/${dataset.name}/${encodeForUrl(key)}`)
    const also = matched === name || matched === key ? null : html` · ${matched}`
    return html`<li>
      <input
        type="checkbox"
        name="keys"
        value="${key}"
        aria-label="${say.compare}: ${name ?? key}"
      />
      <span>
        <a href="${to}">${name ?? key}</a>
        <span class="muted"
          >${[key, period].filter((each) => each !== null).join(' · ')}${also}</span
        >
      </span>
    </li>`
  }
  const list = html`<form action="${root}/datasets/${dataset.name}/compare">
    ${
      chosen.length === 0
        ? null
        : html`<p>
            ${say.compareWith}
            ${chosen.map(
              (key) =>
                html`<label
                  ><input type="checkbox" name="keys" value="${key}" checked /> ${keyLabel}
                  ${key}</label
                > `,
            )}
          </p>`
    }
    <ul class="found">
      ${entries.filter(({ key }) => !chosen.includes(key)).map(item)}
    </ul>
    ${keptFields(context, kept)}
    <p><button>${say.compare}</button></p>
  </form>`
  return titledPage(
    context,
    say.foundTitle(q),
    html`<p><a href="${link(`/datasets/${dataset.name}`)}">${dataset.title}</a></p>
      ${searchForm(context, dataset, { q, kept: [...withKeys(chosen), ...kept] })}
      ${entries.length === 0 ? html`<p>${say.foundNothing}</p>` : list}
      ${paid ?? html`<p class="muted">${say.foundScope}</p>`}`,
  )
}
