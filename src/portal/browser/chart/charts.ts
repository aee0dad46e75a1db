import { element } from '../element.js'
import { words } from '../page-words.js'
import type { Row } from '../question/exact-rows.js'
import { columnTitle } from '../../writers.js'
import type { PageColumn } from '../question/page-column.js'
import type { Order } from '../question/rows-question.js'
import { barList } from './bar-list.js'
import { lineChart } from './line-chart.js'
import { entityNames } from './names.js'
import { drawable, pictureOf, pointsOf, timesOf } from './points.js'
import type { ChartRows, Part, RowPoint } from './points.js'
import { shortValues } from '../../chart/short-values.js'

interface ChartRequest extends ChartRows {
  /** What a row is of; left out: its entity. */
  readonly nameOf?: (row: Row) => string
  /** What a click on the bar of a row does; left out = nothing. */
  readonly pick?: (row: Row) => (() => void) | undefined
  /** The room for it, in pixels. */
  readonly width: number
  /** Rows of the same question are missing. */
  readonly isPartial: boolean
  /** How the rows are sorted; null = in the order that they came in. */
  readonly order: Order | null
  /** Rows without a value in this column are missing; left out = none are. */
  readonly filledIn?: string | undefined
}

const widthMin = 320

/**
 * Draws a column of an answer, and offers the others that can be drawn. Returns nothing if there is
 * nothing to draw.
 */
export function charts(request: ChartRequest): readonly HTMLElement[] {
  const drawings = drawingsOf(request)
  const [first] = drawings
  if (!first) return []
  const width = Math.max(request.width, widthMin)
  const place = element('div')
  const draw = ({ column, picture }: (typeof drawings)[number]) => {
    if (picture.kind === 'unknown') {
      place.replaceChildren(element('p', { class: 'muted' }, words.chartNeedsAll))
      return
    }
    const short = shortValues(document.documentElement.lang, column.unit)
    const title = titleOf(
      { ...column, unit: short.unit },
      picture.kind === 'lines' ? timeTitle(request) : '',
    )
    const drawing =
      picture.kind === 'bars'
        ? [
            barList(
              picture.points.map((point) => withAct(point, request)),
              short,
            ),
          ]
        : lineChart({
            ...picture,
            times: timesOf(request),
            title,
            label: columnTitle(column),
            width,
            short,
          })
    const { omitted: count, hasOther } = picture
    const omittedText = hasOther ? words.otherAdded(count) : words.notDrawn(count)
    const omitted = count > 0 ? omittedText : null
    place.replaceChildren(
      element(
        'figure',
        { class: 'chart' },
        element('figcaption', {}, title),
        ...drawing,
        omitted === null ? null : element('p', { class: 'muted' }, omitted),
      ),
    )
  }
  draw(first)
  if (drawings.length === 1) return [place]
  const choice = element(
    'select',
    {},
    ...drawings.map(({ column }) => element('option', {}, columnTitle(column))),
  )
  choice.addEventListener('input', () => {
    draw(drawings[choice.selectedIndex] ?? first)
  })
  return [element('label', { class: 'line' }, `${words.chartColumn} `, choice), place]
}

/** The columns that have something to draw. */
function drawingsOf(request: ChartRequest) {
  const nameOf = request.nameOf ?? entityNames(request)
  return drawable(request).flatMap((column) => {
    const part = partOf(request, column)
    const other = column.addsUp === true && part === 'all' ? words.otherGroups : null
    const picture = pictureOf(pointsOf(request, column, nameOf), { other, part })
    return picture ? [{ column, picture }] : []
  })
}

function partOf(request: ChartRequest, { name }: PageColumn): Part {
  const { isPartial, order, filledIn = name } = request
  if (!isPartial && filledIn === name) return 'all'
  return order?.column === name && order.isDescending ? 'largest' : 'some'
}

/** A point with what a click on its bar does: nothing on a sum of others. */
function withAct(point: RowPoint, { pick }: ChartRequest) {
  return { ...point, act: point.row && pick?.(point.row) }
}

/** What a heading says of the times. */
function timeTitle({ columns, time }: ChartRequest): string {
  return columns.find(({ name }) => name === time)?.label || time
}

function titleOf(column: PageColumn, time: string): string {
  const { label, description, unit } = column
  const isSaid = label !== '' || description === ''
  const what = isSaid ? columnTitle(column) : `${column.name} · ${description}`
  const title = time === '' ? what : words.chartTitle(what, time)
  return unit === '' ? title : `${title}, ${unit}`
}
