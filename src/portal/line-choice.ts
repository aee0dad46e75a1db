import { html } from './html.js'
import type { Html } from './html.js'
import { columnHeading } from './shown-value.js'

interface OfferedLine {
  readonly name: string
  readonly label: string | null
  readonly unit: string | null
  readonly section: string
}

/** Fields that choose lines, by section; `chosen` are the names of those that are ticked. */
export function lineFields(
  lines: readonly OfferedLine[],
  chosen: readonly string[],
): readonly Html[] {
  return [...Map.groupBy(lines, ({ section }) => section)].map(
    ([section, own]) =>
      html`<fieldset>
        <legend>${section}</legend>
        ${own.map((line) => {
          const mark = chosen.includes(line.name) ? html`checked` : null
          return html`<label>
            <input type="checkbox" name="line" value="${line.name}" ${mark} />
            ${columnHeading(line, line.unit)}
          </label>`
        })}
      </fieldset>`,
  )
}
