import { ServiceError } from '../../../errors.js'
import { kindOf, readRowsQuestion, readTopQuestion, writeRowsQuestion } from './rows-question.js'
import type { RowsQuestion } from './rows-question.js'
import { readSummaryQuestion, writeSummaryQuestion } from './summary-question.js'
import type { SummaryQuestion } from './summary-question.js'

export type Tab = View['tab']

/** What a dataset's page shows. It is the state of the page, and holds no token. */
export type View = RowsView | AnalysisView

export interface RowsView {
  readonly tab: 'rows'
  readonly question: RowsQuestion
  readonly place: Place
}

export interface AnalysisView {
  readonly tab: 'analyse'
  readonly question: SummaryQuestion
}

/** Which page of the rows: its index, and its cursor, which the first page lacks. */
export interface Place {
  readonly page: number
  readonly cursor: string | null
}

export const firstPlace: Place = { page: 0, cursor: null }

const form = /^#?(?:(rows)(?:\/([1-9]\d{0,8})\/([\w.~-]+))?|(top|analyse))\?(.*)$/

/**
 * The view as the fragment of an address: `#rows/2/<cursor>?<query>`, `#top?<query>`,
 * `#analyse?<query>`.
 */
export function writeFragment(view: View): string {
  if (view.tab === 'analyse') return `#analyse?${writeSummaryQuestion(view.question)}`
  const { page, cursor } = view.place
  const place = cursor === null ? '' : `/${page + 1}/${cursor}`
  return `#${kindOf(view.question)}${place}?${writeRowsQuestion(view.question)}`
}

/** Reads a fragment; null if it is of another kind, or not a question. */
export function readFragment(fragment: string): View | null {
  const match = form.exec(fragment)
  if (!match) return null
  const [, , page = '1', cursor = null, other, query = ''] = match
  try {
    if (other === 'analyse') return { tab: 'analyse', question: readSummaryQuestion(query) }
    if (other === 'top') return { tab: 'rows', question: readTopQuestion(query), place: firstPlace }
    const place = cursor === null ? firstPlace : { page: Number(page) - 1, cursor }
    return { tab: 'rows', question: readRowsQuestion(query), place }
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}
