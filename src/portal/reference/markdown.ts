import { html } from '../html.js'
import type { Html } from '../html.js'

/**
 * Renders the Markdown of the document's descriptions: paragraphs, lists, tables and code. Anything
 * else stays text.
 */
export function markdown(text: string): readonly Html[] {
  return text
    .split(/\n{2,}/)
    .filter((block) => block.trim() !== '')
    .map(blockOf)
}

function blockOf(block: string): Html {
  const lines = block.trim().split('\n')
  if (lines.every((line) => line.startsWith('- '))) {
    return html`<ul>
      ${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}
    </ul>`
  }
  return lines.every((line) => line.startsWith('|')) ? table(lines) : html`<p>${inline(block)}</p>`
}

/** The first line has the headings, the second one only separates. */
function table([head = '', , ...rows]: readonly string[]): Html {
  return html`<div class="wide">
    <table>
      <thead>
        <tr>
          ${cellsOf(head).map((cell) => html`<th scope="col">${inline(cell)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(tableRow)}
      </tbody>
    </table>
  </div>`
}

function tableRow(line: string): Html {
  const [name = '', ...others] = cellsOf(line)
  return html`<tr>
    <th scope="row">${inline(name)}</th>
    ${others.map((cell) => html`<td>${inline(cell)}</td>`)}
  </tr>`
}

function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

/** A line of text; what stands between backticks is code. */
export function inline(text: string): readonly (Html | string)[] {
  return text
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))
}
