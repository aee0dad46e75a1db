import { keepingDigits, writtenJson } from '../query/exact-json.js'
import { cellsByName } from '../row-texts.js'
import type { VersionEntry } from '../service/changes.js'
import type { ColumnHead, Page, Room } from '../service/page.js'
import { many } from '../text.js'
import { lettersMax, restLetters, shownQuota } from './query-answer.js'

/** An answer has room for so many versions. */
const versionsMax = 100

/** The versions of a dataset for an agent, the newest ones. */
export function versionsAnswer(versions: readonly VersionEntry[]): object {
  const truncated = versions.length > versionsMax
  return { data: versions.slice(0, versionsMax), ...(truncated && { truncated }) }
}

/** How many changes an answer can hold; one fits at least, and is cut if it is too long. */
export const changesRoom: Room<ColumnHead> = {
  rowsMax: () => Math.floor(lettersMax / '{"change":"","fields":[],"row":{}}'.length),
  rowsThatFit: (rows, columns) => {
    let letters = columns.reduce((sum, { name }) => sum + JSON.stringify(name).length, restLetters)
    const fitting = rows.findIndex((row) => {
      letters += lettersOf(keepingDigits(String(row))) + 1
      return letters > lettersMax
    })
    return fitting === -1 ? rows.length : Math.max(1, fitting)
  },
}

/** A text's length, or that of its structured content if that is longer. */
function lettersOf(json: string): number {
  return Math.max(json.length, JSON.stringify(JSON.parse(json)).length)
}

/** A page of changes for an agent, for `exactJsonText`. */
export function changesAnswer({ rows, nextCursor, cut, quota, facts }: Page): object {
  const entries = rows.map((row) => keepingDigits(String(row)))
  const [only = ''] = entries
  const isLong = rows.length === 1 && lettersOf(only) > lettersMax - restLetters
  const { entry, left } = isLong ? shortened(only) : { entry: only, left: 0 }
  const hint =
    left > 0
      ? `The row is too long. Its last ${many(left, 'column')} are left out; select them alone.`
      : cut === 'quota'
        ? "The page was cut to the rows left of this month's quota."
        : null
  return {
    data: isLong ? [writtenJson(entry)] : entries.map(writtenJson),
    next_cursor: nextCursor,
    ...facts,
    truncated: cut === 'size' || left > 0,
    quota: shownQuota(quota),
    ...(hint !== null && { hint }),
  }
}

/** A change with the first values of its row that fit. */
function shortened(json: string): { readonly entry: string; readonly left: number } {
  const parts = cellsByName(json)
  const cells = [...cellsByName(parts.get('row') ?? '{}')]
  const change = `"change":${parts.get('change') ?? ''},"fields":${parts.get('fields') ?? ''}`
  let letters = restLetters + change.length
  const beyond = cells.findIndex(([name, cell]) => {
    letters += JSON.stringify(name).length + lettersOf(cell) + 2
    return letters > lettersMax
  })
  const kept = beyond === -1 ? cells : cells.slice(0, beyond)
  const row = kept.map(([name, cell]) => `${JSON.stringify(name)}:${cell}`).join()
  return { entry: `{${change},"row":{${row}}}`, left: cells.length - kept.length }
}
