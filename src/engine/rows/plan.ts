import type { Predicate } from '../../columns/predicate.js'
import { filesThatMayHold } from '../../versions/choose-files.js'
import type { StoredFile, Version } from '../../versions/version.js'
import type { FileQuestion } from '../file-question.js'
import { isHistoryComparison } from './history-of.js'
import type { HistoryComparison } from './history-of.js'
import { wantedOf } from './row-set.js'
import type { Wanted } from './row-set.js'

/** A chosen file, by its index in the version, with its row copy. */
export interface CopyOfFile {
  readonly index: number
  readonly rows: number
  readonly copy: StoredFile
}

/** The conditions that row copies decide. */
export interface RowConditions {
  readonly wanted: readonly Wanted[]
  readonly history: readonly HistoryComparison[]
}

/** How row copies answer a question. */
export interface RowPlan extends RowConditions {
  readonly files: readonly CopyOfFile[]
}

/** More look-ups than this, of each value in each file, are work for the engine's threads. */
const lookUpsMax = 20_000

/**
 * How a page is read from row copies: every condition asks for values of a look-up column, or
 * compares the history column, and the answer is JSON. Null where DuckDB reads it.
 */
export function planRows({ version, predicates, format }: FileQuestion): RowPlan | null {
  if (format !== undefined && format !== 'json') return null
  const { wanted, history, others } = conditionsOf(version, predicates)
  if (others.length > 0) return null
  return planOf(version, predicates, { wanted, history })
}

/** How the rows of a question's look-ups are found, for DuckDB to read; null without a look-up. */
export function planSearch(version: Version, predicates: readonly Predicate[]): RowPlan | null {
  const { wanted, history } = conditionsOf(version, predicates)
  return wanted.length === 0 ? null : planOf(version, predicates, { wanted, history })
}

function planOf(
  version: Version,
  predicates: readonly Predicate[],
  conditions: RowConditions,
): RowPlan | null {
  const chosen = filesThatMayHold(version.files, predicates)
  const files = chosen.flatMap((index) => {
    const file = version.files[index]
    return file?.rowCopy ? [{ index, rows: file.rows, copy: file.rowCopy }] : []
  })
  const values = conditions.wanted.reduce((sum, { hashes }) => sum + hashes.length, 0)
  if (files.length < chosen.length || values * files.length > lookUpsMax) return null
  return { ...conditions, files }
}

function conditionsOf({ lookUps, history }: Version, predicates: readonly Predicate[]) {
  const wanted: Wanted[] = []
  const compared: HistoryComparison[] = []
  const others: Predicate[] = []
  for (const predicate of predicates) {
    // No file is chosen for it.
    if (predicate.kind === 'nothing') continue
    const { source } = predicate.column
    const isLookUp = lookUps.some((column) => column.source === source)
    if (isLookUp && predicate.kind === 'eq') {
      wanted.push(wantedOf(predicate.column, [predicate.value]))
    } else if (isLookUp && predicate.kind === 'in') {
      wanted.push(wantedOf(predicate.column, predicate.values))
    } else if (source === history?.source && isHistoryComparison(predicate)) {
      compared.push(predicate)
    } else others.push(predicate)
  }
  return { wanted, history: compared, others }
}
