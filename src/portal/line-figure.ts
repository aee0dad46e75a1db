import { chartHeight, lineShapes } from './chart/line-shapes.js'
import type { LineChart, Point, Series, Shape } from './chart/line-shapes.js'
import type { ShortValues } from './chart/short-values.js'
import { html } from './html.js'
import type { Html } from './html.js'
import type { PageContext } from './page-context.js'

interface LineFigure extends Omit<LineChart, 'width'> {
  readonly title: string
  readonly short: ShortValues
}

/** Its letters have their size on a phone and on a screen. */
const widths = [
  ['narrow', 340],
  ['broad', 760],
] as const

/** Series over time as a picture, with the ends of each in words below. It needs no script. */
export function lineFigure({ words }: PageContext, chart: LineFigure): Html {
  const { title, short, series } = chart
  return html`<figure class="chart">
    <figcaption>${title}</figcaption>
    ${widths.map(
      ([name, width]) =>
        html`<svg
          class="${name}"
          role="img"
          aria-label="${title}"
          viewBox="0 0 ${width} ${chartHeight}"
          width="${width}"
          height="${chartHeight}"
        >
          ${lineShapes({ ...chart, width }).map(drawn)}
        </svg>`,
    )}
    <ul class="legend">
      ${series.map((each, index) => legendItem(words, each, index, short))}
    </ul>
  </figure>`
}

function drawn(shape: Shape): Html {
  switch (shape.kind) {
    case 'line': {
      const { name, x1, x2, y } = shape
      return html`<line class="${name}" x1="${x1}" x2="${x2}" y1="${y}" y2="${y}" />`
    }
    case 'text': {
      const { x, y, anchor, text } = shape
      return html`<text x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`
    }
    case 'path':
      return html`<polyline class="s${shape.series}" points="${shape.points}" />`
    case 'point': {
      const { series, x, y, title } = shape
      return html`<circle class="s${series}" cx="${x}" cy="${y}" r="3.5">
        <title>${title}</title>
      </circle>`
    }
  }
}

function legendItem(
  words: PageContext['words'],
  { name, points }: Series,
  index: number,
  { writeExact }: ShortValues,
): Html {
  const [first, last] = [points.at(0), points.at(-1)]
  const shown = (point: Point | undefined) =>
    point ? `${writeExact(point.yText)} (${point.xText})` : words.empty
  const range = () => words.chartRange(name, shown(first), shown(last))
  const text = first === last ? `${name}: ${shown(first)}` : range()
  return html`<li>
    <svg class="key" viewBox="0 0 12 12" aria-hidden="true">
      <circle class="s${index}" cx="6" cy="6" r="5" />
    </svg>
    ${text}
  </li>`
}
