import type { Question } from '../../../query/question.js'
import type { FileChecks } from '../../../versions/store/file-checks.js'
import type { DataFile } from '../../../versions/version.js'
import type { Row, Rows } from '../../engine.js'
import type { PlainPaths } from '../plain-paths.js'
import { isMuch } from '../turns/size.js'
import { costOf, isByKey, planPage } from './pieces.js'
import type { Piece, Scan } from './pieces.js'
import { requireUnchanged, requireVerified } from './unchanged.js'

/** What a read needs besides its question. */
export interface ReadContext {
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
  { version, predicates, after, limit }: Question,
  { checks, paths, grow }: ReadContext,
  read: (piece: Piece, limit: number) => Promise<readonly Row[]>,
): Promise<Rows> {
  const rows: Row[] = []
  // One row more than asked for tells whether any follows.
  const missing = () => limit + 1 - rows.length
  const hasKey = predicates.some((predicate) => isByKey(version, predicate))
  let cost = 0
  for (const piece of planPage(version, predicates, { after, missing })) {
    requireVerified(filesUpTo(piece), checks)
    cost += costOf(piece)
    if (isMuch(cost) && !hasKey) await grow()
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
