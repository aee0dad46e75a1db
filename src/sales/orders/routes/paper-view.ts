import { fact, html } from '../../../portal/html.js'
import type { Html } from '../../../portal/html.js'
import type { Paper } from '../papers/paper.js'

/** A paper as a part of a page; printed, nothing else of the page is on the sheet. */
export function paperView({ title, parties, headings, lines, notes }: Paper): Html {
  const [what, amount] = headings
  return html`<article class="paper">
    <h2>${title}</h2>
    <dl class="facts">${parties.map(([name, value]) => fact(name, value))}</dl>
    <table>
      <thead>
        <tr>
          <th scope="col">${what}</th>
          <th scope="col" class="number">${amount}</th>
        </tr>
      </thead>
      <tbody>
        ${lines.map(
          ([subject, sum]) =>
            html`<tr>
              <td>${subject}</td>
              <td class="number">${sum}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${notes.map((note) => html`<p>${note}</p>`)}
  </article>`
}
