import { ask } from '../ask-page.js'
import type { Row } from './exact-rows.js'
import type { PageColumn } from './page-column.js'

/** An address has a limit. */
const codesOfRequest = 300

/** The columns of these rows: those of codes with what the codes mean, where the portal says it. */
export function withNames(
  dataset: string,
  columns: readonly PageColumn[],
  rows: readonly Row[],
): Promise<readonly PageColumn[]> {
  return Promise.all(
    columns.map(async (column) => {
      if (column.isCode !== true) return column
      const codes = [...new Set(rows.flatMap((row) => row.get(column.name)?.text ?? []))]
      return { ...column, names: await namesOf(`/datasets/${dataset}`, column.name, codes) }
    }),
  )
}

async function namesOf(
  path: string,
  column: string,
  codes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const starts = codes.flatMap((_, at) => (at % codesOfRequest === 0 ? [at] : []))
  const { lang } = document.documentElement
  const answers = await Promise.all(
    starts.map((start) => {
      const some = codes.slice(start, start + codesOfRequest).map((code) => ['code', code])
      const query = new URLSearchParams([['column', column], ['lang', lang], ...some])
      return ask(`${path}/names?${query}`, null)
    }),
  )
  return new Map(
    answers.flatMap((answer) =>
      answer.kind === 'refused'
        ? []
        : Object.entries(JSON.parse(answer.text) as Readonly<Record<string, string>>),
    ),
  )
}
