import type { Question } from '../../../query/question.js'
import type { FileChecks } from '../../../versions/store/file-checks.js'
import type { DataFile } from '../../../versions/version.js'
import type { Row, Rows } from '../../engine.js'
import type { Choice } from '../choice.js'
import type { PlainPaths } from '../plain-paths.js'
import { isMuch } from '../turns/size.js'
import { costOf, planPage } from './pieces.js'
import type { Piece, Scan } from './pieces.js'
import { requireUnchanged, requireVerified } from './unchanged.js'

/** What reading needs besides its question. */
export interface ReadContext {
  /** Of the question. */
  readonly choice: Choice
  readonly checks: FileChecks | null
  readonly paths: PlainPaths
  /** Waits for the place that many rows need, unless they are chosen by key. */
  readonly grow: () => Promise<void>
}

/**
 * The rows of a page, piece by piece as `read` finds them, until it is full.
 * @throws UnverifiedError, ChangedFileError for files that are not known to be what was published
 */
export async function readPieces(
  { after, limit }: Question,
  { choice, checks, paths, grow }: ReadContext,
  read: (piece: Piece, limit: number) => Promise<readonly Row[]>,
): Promise<Rows> {
  const rows: Row[] = []
  // One row more than asked for tells whether any follows.
  const missing = () => limit + 1 - rows.length
  let cost = 0
  for (const piece of planPage(choice, { after, missing })) {
    requireVerified(filesUpTo(piece), checks)
    cost += costOf(piece)
    if (isMuch(cost) && !choice.isByKey) await grow()
    for (const row of await read(paths.scan(piece), missing())) rows.push(row)
    const lastFile = missing() === 0 ? rows.at(-1)?.position.file : undefined
    await requireUnchanged(filesUpTo(piece, lastFile), checks)
    if (missing() === 0) break
  }
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit }
}

/** The files of a scan, in the version's order, up to the one with this index. */
export function filesUpTo({ files }: Scan, last = Infinity): readonly DataFile[] {
  return files.filter(({ index }) => index <= last).map(({ file }) => file)
}
