import type { FilePosition } from '../../../query/question.js'
import type { FileQuestion } from '../../file-question.js'
import type { DataFile } from '../../../versions/version.js'
import type { Row, Rows } from '../../engine.js'
import { searchesOf } from '../choice.js'
import type { Choice } from '../choice.js'
import { isMuch } from '../turns/size.js'
import { narrow } from './narrow.js'
import type { SearchContext } from './narrow.js'
import { costOf, planPage } from './pieces.js'
import type { Piece, Progress, Scan } from './pieces.js'
import { requireUnchanged, requireVerified } from './unchanged.js'

/** What a read needs besides its question. */
export interface ReadContext extends SearchContext {
  /** The choice of files for the question. */
  readonly choice: Choice
  /** Waits for a slot for large work, unless the key chooses the rows. */
  readonly grow: () => Promise<void>
}

/**
 * Reads the rows of a page, piece by piece, until it is full.
 * @throws UnverifiedError, ChangedFileError for files that may differ from the published ones
 */
export async function readPieces(
  { after, limit }: FileQuestion,
  context: ReadContext,
  read: (piece: Piece, limit: number) => Promise<readonly Row<FilePosition>[]>,
): Promise<Rows<FilePosition>> {
  const { choice, checks, paths, grow } = context
  const rows: Row<FilePosition>[] = []
  // One extra row shows whether more rows follow.
  const missing = () => limit + 1 - rows.length
  let cost = 0
  for await (const piece of piecesOf(choice, { after, missing }, context)) {
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

/**
 * The pieces of a page. The rows of a frequent word fill it in the first piece; after that, search
 * files say where the others are.
 */
async function* piecesOf(
  choice: Choice,
  progress: Progress,
  context: ReadContext,
): AsyncGenerator<Piece> {
  let first: Piece | undefined
  for (const piece of planPage(choice, progress)) {
    if (first && searchesOf(choice).length > 0) break
    first ??= piece
    yield piece
  }
  const after = first && lastRowOf(first)
  if (!after || searchesOf(choice).length === 0) return
  yield* planPage(await narrow(choice, context), { ...progress, after })
}

function lastRowOf({ files, range }: Piece): FilePosition | undefined {
  const last = files.at(-1)
  return last && { file: last.index, row: (range?.to ?? last.file.rows) - 1 }
}

/** The files of a scan, in the version's order, up to the one with this index. */
export function filesUpTo({ files }: Scan, last = Infinity): readonly DataFile[] {
  return files.filter(({ index }) => index <= last).map(({ file }) => file)
}
