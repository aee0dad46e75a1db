import type { FastifyRequest } from 'fastify'
import { badRequest } from '../errors.js'
import type { PageFormat } from '../query/page-format.js'

/** How a whole answer is opened by what tries to read parts of it. */
const ways: Readonly<Partial<Record<PageFormat, string>>> = {
  parquet: 'pq.read_table(io.BytesIO(requests.get(url, headers=headers).content))',
  csv: 'pandas.read_csv(io.BytesIO(requests.get(url, headers=headers).content))',
  xlsx: 'pandas.read_excel(io.BytesIO(requests.get(url, headers=headers).content))',
}

/**
 * Refuses a request for a part of an answer before anything is charged: readers of files by URL ask
 * for one part after another, and each would cost a whole page. `bytes=0-` asks for all of it.
 * @throws bad_request
 */
export function refuseRanges(request: FastifyRequest, format: PageFormat | null): void {
  const { range } = request.headers
  if (range === undefined || request.method !== 'GET' || /^bytes=0-$/.test(range.trim())) return
  const way = format === null ? undefined : ways[format]
  throw badRequest(
    'Byte ranges are not served: download the answer, then open it' +
      (way === undefined ? '.' : `, as with ${way}`),
  )
}
