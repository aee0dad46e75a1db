import { textOf } from '../service/entity-rows.js'
import type { ShownLink } from '../service/entity-rows.js'
import type { ShownColumn } from '../service/showcase.js'
import { encodeForUrl } from '../query/write-url.js'
import { entityWords } from './entity-words.js'
import { html } from './html.js'
import type { Html } from './html.js'
import type { PageContext } from './page-context.js'
import { columnHeading, valueText } from './shown-value.js'
import { digitsMax } from './writers.js'

/** The rows of another dataset that have the key of an entity, with their totals. */
export function linkedRows(
  context: PageContext,
  linked: ShownLink,
  key: string,
  index: number,
): Html {
  const { words, link, language } = context
  const { dataset, column, rows, isCut, undated, refusal } = linked
  const isNewest = dataset.history !== null && undated === 0
  const say = entityWords(language)
  const id = `linked-${index}`
  const filter = `${encodeForUrl(column.name)}=eq.${encodeForUrl(key)}`
  const to = `${link(`/datasets/${dataset.name}`)}#rows?${filter}`
  return html`<section>
    <h2 id="${id}">
      ${dataset.title}<span class="muted">, ${say.linked(column.label ?? column.name)}</span>
    </h2>
    ${refusal === null ? null : html`<p>${words.refusals[refusal]}</p>`}
    ${refusal === null && rows.length === 0 ? html`<p class="muted">${say.noLinked}</p>` : null}
    ${rows.length === 0 ? null : linkedTable(context, linked, id)}
    ${undated === 0 ? null : html`<p>${say.undated(undated)}</p>`}
    ${
      isCut
        ? html`<p>
            ${isNewest ? say.newest(rows.length) : say.someLinked(rows.length)}
            <a href="${to}">${say.allLinked}</a>
          </p>`
        : null
    }
  </section>`
}

function linkedTable(context: PageContext, { shown, rows, meaning }: ShownLink, id: string): Html {
  const say = entityWords(context.language)
  const sums = shown.map((column) =>
    sumOf(
      column,
      rows.map((row) => row.get(column.name) ?? 'null'),
    ),
  )
  const className = ({ isQuantity }: ShownColumn) => (isQuantity ? html`class="number"` : null)
  const hasSums = sums.some((sum) => sum !== null)
  return html`<div class="wide" role="region" tabindex="0" aria-labelledby="${id}">
    <table class="linked">
      <thead>
        <tr>
          ${shown.map((each) => html`<th scope="col">${columnHeading(each, each.unit)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${shown.map((each) => {
                const text = valueText(context, each, row.get(each.name) ?? 'null', meaning)
                return html`<td ${className(each)}>${text}</td>`
              })}
            </tr>`,
        )}
      </tbody>
      ${
        hasSums
          ? html`<tfoot>
              <tr>
                ${shown.map((each, at) => {
                  const sum = sums[at] ?? null
                  const exact = { ...each, decimals: each.decimals ?? 0 }
                  const text = sum === null ? '' : valueText(context, exact, sum)
                  return html`<td ${className(each)}>
                    ${at === 0 ? `${say.total(rows.length)} ` : ''}${text}
                  </td>`
                })}
              </tr>
            </tfoot>`
          : null
      }
    </table>
  </div>`
}

const share = /^(?:share|fraction|доля|%)/i

/** The exact sum of amounts as shown, from their JSON texts; null for what does not add up. */
function sumOf(
  { isQuantity, unit, decimals }: Pick<ShownColumn, 'isQuantity' | 'unit' | 'decimals'>,
  values: readonly string[],
): string | null {
  if (!isQuantity || unit === null || share.test(unit)) return null
  const texts = values
    .map(textOf)
    .filter((text) => text !== '')
    .map((text) => (decimals === null ? String(Number(Number(text).toPrecision(digitsMax))) : text))
  if (texts.length === 0 || !texts.every((text) => /^-?\d+(?:\.\d+)?$/.test(text))) return null
  const scale = Math.max(...texts.map((text) => text.split('.')[1]?.length ?? 0))
  const sum = texts.reduce((total, text) => {
    const [whole = '', fraction = ''] = text.split('.')
    return total + BigInt(whole + fraction.padEnd(scale, '0'))
  }, 0n)
  const digits = String(sum < 0n ? -sum : sum).padStart(scale + 1, '0')
  const point = digits.length - scale
  const sign = sum < 0n ? '-' : ''
  return scale === 0 ? `${sum}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}
