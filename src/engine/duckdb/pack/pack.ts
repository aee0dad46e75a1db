import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type {
  FinishedFile,
  FinishedSearch,
  PackRecord,
} from '../../../versions/packing/pack-record.js'
import { machineClock } from '../../../clock.js'
import { PackError } from '../../../versions/packing/packer.js'
import type {
  PackFiles,
  PackOrder,
  PackProgress,
  PackedFile,
} from '../../../versions/packing/packer.js'
import { foldersOf } from '../paths.js'
import { withPlainPaths } from '../plain-paths.js'
import { runnerOn } from '../run-statement.js'
import type { RunStatement } from '../run-statement.js'
import { inSandbox } from '../sandbox.js'
import { disorderSql, mixedSql, packedChecksumSql, scanChecksumSql } from './pack-check.js'
import { PackDraft, packedBefore, planName } from './pack-draft.js'
import { packFailure } from './pack-failure.js'
import { packLayout, packedName } from './pack-layout.js'
import type { PackLayout } from './pack-layout.js'
import { filesPerBatch, packedBytesMax, requireSpace } from './pack-limits.js'
import type { PackLimits } from './pack-limits.js'
import { writeSearchFile } from './pack-search.js'
import { dictionaryOption } from '../dictionary-option.js'
import { batchScans, checkScans, wholeScans } from './pack-scans.js'
import { batchSql, fileSql, inner, planSql, rangesSql, readSql } from './pack-sql.js'
import { requireSameTypes } from './pack-types.js'

/** The state of a running packing. */
interface Packing {
  readonly order: PackOrder
  readonly layout: PackLayout
  readonly draft: PackDraft
  /** The path of a draft file in statements. */
  readonly pathOf: (name: string) => string
  readonly limits: PackLimits
  readonly run: RunStatement
  readonly rows: number
  readonly report: (stage: PackProgress['stage'], rowsDone: number) => void
}

const reportEveryMs = 1000

/**
 * Rewrites a dataset, sorted by its key, in the layout with the fastest look-ups. First it sorts
 * and saves the order of all rows, as positions; then it reads, sorts and writes the rows of a few
 * target files at a time, so that memory is bounded for any size. It reads each file back, and
 * compares the checksums over all cells of the sources and of the packed files at the end. A pack
 * of the same files only gets the search files that it lacks.
 */
export function duckDbPacker(layout: PackLayout = packLayout): PackFiles {
  return async (order, options) => {
    try {
      const before = await packedBefore(order, layout)
      if (before && lacking(order, before).length === 0) return filesOf(order, before)
      return await packInDraft(order, layout, before, options)
    } catch (cause) {
      options.signal.throwIfAborted()
      throw packFailure(cause, order)
    }
  }
}

async function packInDraft(
  order: PackOrder,
  layout: PackLayout,
  before: PackRecord | null,
  { signal, report }: Parameters<PackFiles>[1],
): Promise<readonly PackedFile[]> {
  const rows = order.files.reduce((sum, file) => sum + file.rows, 0)
  let progress: PackProgress = { stage: 'sorting', rowsDone: 0, rows }
  const draft = await PackDraft.open(order, layout)
  const stopReports = machineClock.every(reportEveryMs, () => report(progress))
  try {
    const bytes = before
      ? 0
      : Math.max(0, (await packedBytesMax(order)) - (await draft.sizeBytes()))
    const limits = await requireSpace(order, draft.folder, bytes)
    const read = before ? [order.target] : foldersOf(order.files.map(({ path }) => path))
    const folders = [...read, draft.folder]
    return await withPlainPaths((plain) =>
      inSandbox({ folders, tempFolder: draft.path('tmp'), ...limits }, (connection) => {
        const packing: Packing = {
          order: plain.order(order),
          layout,
          draft,
          pathOf: (name) => plain.of(draft.path(name)),
          limits,
          run: runnerOn(connection, signal),
          rows,
          report: (stage, rowsDone) => {
            progress = { stage, rowsDone, rows }
            report(progress)
          },
        }
        if (!before) return pack(packing)
        return addSearch(packing, before, (name) => plain.of(join(order.target, name)))
      }),
    )
  } finally {
    stopReports()
    draft.close()
  }
}

async function pack(packing: Packing): Promise<readonly PackedFile[]> {
  const { order, layout, draft, pathOf, rows } = packing
  const amount = Math.max(1, Math.ceil(rows / layout.fileRows))
  const names = Array.from({ length: amount }, (_, index) => packedName(index))
  try {
    await requireSameTypes(packing.run, order, pathOf('types.parquet'))
    await sortRows(packing)
    await forgetDamaged(packing, names)
    await writeFiles(packing, names)
    await verify(packing, names)
    await draft.requireSameSources()
  } catch (cause) {
    // The next try must not continue a wrong draft.
    if (cause instanceof PackError) await draft.remove()
    throw cause
  }
  const files = names.map((name) => {
    return { path: join(order.target, name), rows: draft.finished(name)?.rows ?? 0 }
  })
  const [mixed = []] = await packing.run({ sql: mixedSql(pathOf(planName)) })
  const isMixed = new Set(mixed.map(Number))
  const inOrder = [...order.files.keys()].filter((index) => !isMixed.has(index))
  const search = await writeSearch(packing, order.search, names.map(pathOf))
  await draft.finish(inOrder, search)
  return files
}

/** Writes the search files that a pack of the same files lacks. */
async function addSearch(
  packing: Packing,
  before: PackRecord,
  pathIn: (name: string) => string,
): Promise<readonly PackedFile[]> {
  const { order, draft } = packing
  const packed = before.files.map(({ name }) => pathIn(name))
  await draft.addTo(before, await writeSearch(packing, lacking(order, before), packed))
  return filesOf(order, before)
}

async function writeSearch(
  { run, pathOf, report, rows }: Packing,
  columns: readonly string[],
  packed: readonly string[],
): Promise<readonly FinishedSearch[]> {
  const search: FinishedSearch[] = []
  for (const column of columns) {
    report('indexing', Math.floor((rows * search.length) / columns.length))
    search.push(await writeSearchFile(column, packed, run, pathOf))
  }
  if (columns.length > 0) report('indexing', rows)
  return search
}

/** The searched columns without a search file. */
function lacking({ search }: PackOrder, before: PackRecord): readonly string[] {
  const written = new Set(before.search?.map(({ column }) => column))
  return search.filter((column) => !written.has(column))
}

function filesOf({ target }: PackOrder, { files }: PackRecord): readonly PackedFile[] {
  return files.map(({ name, rows }) => ({ path: join(target, name), rows }))
}

/** DuckDB writes to another name and renames at the end: an existing plan is complete. */
async function sortRows(packing: Packing): Promise<void> {
  const { order, draft, pathOf, run, rows, report } = packing
  report('sorting', 0)
  const path = pathOf(planName)
  const exists = await access(path).then(
    () => true,
    () => false,
  )
  if (!exists) await run({ sql: planSql(order, wholeScans(order), path) })
  draft.give(planName)
  const [found = []] = await run({ sql: `SELECT count(*) FROM ${readSql([path])}` })
  if (Number(found[0]) !== rows) throw differentRows()
  report('sorting', rows)
}

/** Files that an earlier try finished may be damaged by now; damaged ones are written again. */
async function forgetDamaged(packing: Packing, names: readonly string[]): Promise<void> {
  const { draft } = packing
  for (const name of names) {
    const finished = draft.finished(name)
    if (!finished) continue
    packing.report('writing', rowsDone(packing, names))
    const now = await readBack(packing, name).catch(() => null)
    const isSame = now?.rows === finished.rows && now.checksum === finished.checksum
    if (!isSame) draft.forget(name)
  }
}

async function writeFiles(packing: Packing, names: readonly string[]): Promise<void> {
  const { draft, layout, rows, run } = packing
  const filesMax = await filesPerBatch(run, packing.order, packing.limits, layout.fileRows)
  for (let index = 0; index < names.length; index += 1) {
    const first = index
    const isMissing = (at: number) => at < names.length && !draft.finished(packedName(at))
    while (index < first + filesMax && isMissing(index)) index += 1
    if (index === first) continue
    const [from, to] = [first * layout.fileRows, Math.min(index * layout.fileRows, rows)]
    packing.report('writing', rowsDone(packing, names))
    await loadBatch(packing, from, to)
    for (let at = first; at < index; at += 1) {
      draft.add(await writeFile(packing, packedName(at), at * layout.fileRows - from))
      packing.report('writing', rowsDone(packing, names))
    }
    await draft.save()
    index -= 1
  }
  await run({ sql: 'DROP TABLE IF EXISTS batch' })
}

function rowsDone({ draft }: Packing, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (draft.finished(name)?.rows ?? 0), 0)
}

async function loadBatch({ order, pathOf, run }: Packing, from: number, to: number): Promise<void> {
  const plan = pathOf(planName)
  const [files = [], starts = [], ends = []] = await run({ sql: rangesSql(plan, from, to) })
  const ranges = files.map((file, index) => ({
    file: Number(file),
    from: Number(starts[index]),
    to: Number(ends[index]),
  }))
  await run({ sql: batchSql(order, batchScans(order, ranges), { plan, from, to }) })
}

async function writeFile(packing: Packing, name: string, from: number): Promise<FinishedFile> {
  const { order, layout, draft, pathOf, run } = packing
  const cells = order.columns.map(({ type }, index) => ({ sql: inner(index), type }))
  const dictionary = await dictionaryOption(run, 'batch', cells)
  const part = { from, to: from + layout.fileRows, dictionary }
  await run({ sql: fileSql(order, layout, pathOf(name), part) })
  await draft.sync(name)
  return readBack(packing, name)
}

/** Reads a whole packed file back. @throws PackError if its rows are out of order */
async function readBack({ order, pathOf, run }: Packing, name: string): Promise<FinishedFile> {
  const path = pathOf(name)
  await requireOrder(order, run, [path])
  const [rows = [], sums = []] = await run({ sql: packedChecksumSql(order, path) })
  return { name, rows: Number(rows[0]), checksum: String(sums[0]) }
}

/** Each file is in order; the first and last rows show whether the files are in order too. */
async function verify(packing: Packing, names: readonly string[]): Promise<void> {
  const { order, layout, draft, pathOf, run, rows, report } = packing
  report('verifying', 0)
  const ends = `file_row_number IN (0, ${layout.fileRows - 1})`
  await requireOrder(order, run, names.map(pathOf), ends)
  const packedSum = names.reduce(
    (sum, name) => sum + BigInt(draft.finished(name)?.checksum ?? 0),
    0n,
  )
  let [sourceRows, sourceSum, done] = [0, 0n, 0]
  for (const { scan, rows: more } of checkScans(order)) {
    const [counts = [], sums = []] = await run({ sql: scanChecksumSql(order, scan) })
    sourceRows += Number(counts[0])
    sourceSum += BigInt(String(sums[0]))
    done += more
    report('verifying', done)
  }
  const isSame = sourceRows === rows && rowsDone(packing, names) === rows
  if (!isSame || sourceSum !== packedSum) throw differentRows()
}

async function requireOrder(
  order: PackOrder,
  run: RunStatement,
  paths: readonly string[],
  where?: string,
): Promise<void> {
  if (order.key.length === 0) return
  const [wrong = []] = await run({ sql: disorderSql(order, paths, where) })
  if (Number(wrong[0]) > 0) throw new PackError('The packed rows are in a wrong order.')
}

function differentRows(): PackError {
  return new PackError('The packed rows differ from those of the files; nothing was kept.')
}
