import { html } from './html.js'
import type { Html } from './html.js'

/** A table that scrolls where it is wider than the page. The first cell of a row is its heading. */
export function wideTable(
  label: string,
  titles: readonly string[],
  rows: readonly (readonly (Html | string)[])[],
): Html {
  return html`<div class="wide" role="region" tabindex="0" aria-label="${label}">
    <table>
      <thead>
        <tr>
          ${titles.map((title) => html`<th scope="col">${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(([first = '', ...rest]) => {
          return html`<tr>
            <th scope="row">${first}</th>
            ${rest.map((cell) => html`<td>${cell}</td>`)}
          </tr>`
        })}
      </tbody>
    </table>
  </div>`
}
