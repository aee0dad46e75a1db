import type { FastifyRequest } from 'fastify'
import type { Dataset } from '../catalog/dataset.js'
import type { GroupsAnswer, Page } from '../service/page.js'
import { isoTime } from '../text.js'
import type { Sheet } from '../sheet/sheet.js'

/** What the last sheet of a workbook says of an answer, in the language of its headings. */
export function aboutAnswer(
  request: FastifyRequest,
  { title, source }: Pick<Dataset, 'title' | 'source'>,
  { version, columns, headings, ...answer }: Page | GroupsAnswer,
): Sheet['about'] {
  const isMore = answer.kind === 'page' ? answer.hasMore : answer.truncated
  const rows = answer.kind === 'page' ? answer.rows.length : answer.sent
  const units = columns.flatMap(({ name, unit }, at) =>
    unit === null ? [] : `${headings?.[at] ?? name}: ${unit}`,
  )
  const [path = '', query = ''] = request.url.split('?', 2)
  return [
    ['Title', title],
    ['Question', decoded(query.replaceAll('&', '\n')) || `${request.method} ${path}`],
    ['Link', `${request.protocol}://${request.host}${request.url}`],
    ['Source and licence', source ?? '–'],
    ['Version', `${version.id}, ${isoTime(version.modifiedMs)}`],
    ['Units', units.join('\n') || '–'],
    ['Rows', `${rows}${isMore ? '; more rows meet the question' : ''}`],
  ]
}

function decoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}
