import { ask } from '../ask-page.js'
import { element } from '../element.js'
import { labels, words } from '../page-words.js'
import { columnRows } from '../question/columns.js'
import { firstPlace, writeFragment } from '../question/view.js'
import { sayRefusal } from '../refusal-text.js'
import { valueFacts } from './value-facts.js'
import type { ColumnFacts } from './value-facts.js'

/** The part of a schema with facts that the page shows. */
interface DatasetFacts {
  /** Null if they took too long to count. */
  readonly profiled_rows: number | null
  readonly caution: string | null
  readonly columns: readonly ColumnFacts[]
}

export interface FactsView {
  /** Shows what columns hold in the rows of this token, once seen; with an empty one, nothing. */
  readonly load: (token: string) => Promise<void>
}

/** Adds a cell for the values of each column to the table of columns. */
export function factsView(dataset: string): FactsView {
  const status = element('p', { role: 'status', class: 'muted' })
  document.getElementById('column-search')?.after(status)
  const cells = columnRows().map((row) => {
    const cell = element('td', { class: 'holds' })
    row.append(cell)
    return { name: row.dataset['name'], unit: row.cells[2]?.textContent.trim() ?? '', cell }
  })
  const heading = element('th', { scope: 'col' }, words.facts.heading)
  document.querySelector('#column-table thead tr')?.append(heading)
  const seen = whenSeen(status)
  let wanted = ''
  const show = ({ profiled_rows: rows, caution, columns }: DatasetFacts) => {
    status.textContent = statusText(rows, caution !== null)
    for (const { name, unit, cell } of cells) {
      const column = columns.find((each) => each.name === name)
      cell.replaceChildren(
        ...(column && rows ? valueFacts(column, unit !== '', rowsAtOf(column.name)) : []),
      )
    }
  }
  const load = async (token: string) => {
    wanted = token
    heading.hidden = token === ''
    for (const { cell } of cells) {
      cell.replaceChildren()
      cell.hidden = token === ''
    }
    status.textContent = token === '' ? '' : words.facts.loading
    if (token === '') return
    await seen
    if (token !== wanted) return
    const answer = await ask(`/v1/${dataset}/schema?facts=true&labels=${labels}`, token)
    if (token !== wanted) return
    if (answer.kind === 'refused') sayRefusal(status, answer)
    else show(JSON.parse(answer.text) as DatasetFacts)
  }
  return { load }
}

/** When the visitor comes near: most read only the rows above. */
function whenSeen(node: HTMLElement): Promise<void> {
  return new Promise((resolve) => {
    new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) resolve()
    }).observe(node)
  })
}

/** The address of this page with the rows that meet filters of a column. */
function rowsAtOf(column: string): Parameters<typeof valueFacts>[2] {
  return (given) => {
    const filters = given.map(([operator, value]) => ({ column, operator, values: [`${value}`] }))
    const question = { filters, select: [], limit: null, order: null }
    return writeFragment({ tab: 'rows', question, place: firstPlace })
  }
}

function statusText(rows: number | null, isSample: boolean): string {
  if (rows === null) return words.facts.late
  if (rows === 0) return words.facts.noRows
  return isSample ? words.facts.sampled(rows) : words.facts.counted(rows)
}
