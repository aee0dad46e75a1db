import { access } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { FinishedFile } from '../../../versions/pack-page.js'
import { PackError } from '../../../versions/packer.js'
import type { PackFiles, PackOrder, PackProgress, PackedFile } from '../../../versions/packer.js'
import type { Ask } from '../open/read-bounds.js'
import { PlainPaths } from '../plain-paths.js'
import { runStatement } from '../run-statement.js'
import { startInstance } from '../sandbox.js'
import { disorderSql, packedChecksumSql, scanChecksumSql } from './pack-check.js'
import { PackDraft, packedBefore, planName } from './pack-draft.js'
import { packFailure } from './pack-failure.js'
import { packLayout, packedName } from './pack-layout.js'
import type { PackLayout } from './pack-layout.js'
import { batchFiles, requireSpace } from './pack-limits.js'
import type { PackLimits } from './pack-limits.js'
import { batchScans, checkScans, wholeScans } from './pack-scans.js'
import { batchSql, fileSql, planSql, readSql, rangesSql } from './pack-sql.js'
import { requireSameTypes } from './pack-types.js'

/** One packing at work. */
interface Job {
  readonly order: PackOrder
  readonly layout: PackLayout
  readonly draft: PackDraft
  /** Where statements find a file of the draft. */
  readonly pathOf: (name: string) => string
  readonly room: PackLimits
  readonly ask: Ask
  readonly rows: number
  readonly tell: (stage: PackProgress['stage'], rowsDone: number) => void
}

const beatMs = 1000

/**
 * The catalog's packer over DuckDB, in a sandboxed instance of its own. First the order of all rows
 * is sorted, as positions, and kept; then the rows of a few target files at a time are read, sorted
 * and written, so that memory is bounded whatever the size; each file is read again, and at the
 * end the sums over all cells of the sources and of what was made of them must be equal.
 */
export function duckDbPacker(layout: PackLayout = packLayout): PackFiles {
  return async (order, { signal, report }) => {
    try {
      const before = await packedBefore(order, layout)
      if (before) return before
      const draft = await PackDraft.open(order, layout)
      const rows = order.files.reduce((sum, file) => sum + file.rows, 0)
      let progress: PackProgress = { stage: 'sorting', rowsDone: 0, rows }
      const tell: Job['tell'] = (stage, rowsDone) => {
        progress = { stage, rowsDone, rows }
        report(progress)
      }
      const beat = setInterval(() => report(progress), beatMs)
      const plain = new PlainPaths()
      try {
        const readable = plain.order(order)
        const pathOf = (name: string) => plain.of(draft.path(name))
        return await inSandbox(order, draft, signal, (ask, room) =>
          pack({ order: readable, layout, draft, pathOf, room, ask, rows, tell }),
        )
      } catch (cause) {
        throw plain.inOwnNames(cause)
      } finally {
        clearInterval(beat)
        plain.close()
      }
    } catch (cause) {
      signal.throwIfAborted()
      throw packFailure(cause, order)
    }
  }
}

async function inSandbox<T>(
  order: PackOrder,
  draft: PackDraft,
  signal: AbortSignal,
  work: (ask: Ask, room: PackLimits) => Promise<T>,
): Promise<T> {
  const room = await requireSpace(order, draft.folder, await draft.sizeBytes())
  const sources = new Set(order.files.map(({ path }) => dirname(path)))
  const folders = [...sources, draft.folder]
  const instance = await startInstance({ folders, tempFolder: draft.path('tmp'), ...room })
  try {
    const connection = await instance.connect()
    try {
      const ask: Ask = (sql, ...values) => runStatement(connection, { sql, values }, signal)
      return await work(ask, room)
    } finally {
      connection.disconnectSync()
    }
  } finally {
    instance.closeSync()
  }
}

async function pack(job: Job): Promise<readonly PackedFile[]> {
  const { order, layout, draft, pathOf, rows } = job
  const amount = Math.max(1, Math.ceil(rows / layout.fileRows))
  const names = Array.from({ length: amount }, (_, index) => packedName(index))
  try {
    await requireSameTypes(job.ask, order, pathOf('types.parquet'))
    await sortRows(job)
    await forgetDamaged(job, names)
    await writeFiles(job, names)
    await verify(job, names)
    await draft.requireSameSources(layout)
  } catch (cause) {
    // A draft that was found wrong is not gone on with.
    if (cause instanceof PackError) await draft.remove()
    throw cause
  }
  const files = names.map((name) => {
    return { path: `${order.target}/${name}`, rows: draft.finished(name)?.rows ?? 0 }
  })
  await draft.finish(names)
  return files
}

/** DuckDB writes beside and renames at the end: a plan that is there is whole. */
async function sortRows({ order, pathOf, ask, rows, tell }: Job): Promise<void> {
  tell('sorting', 0)
  const path = pathOf(planName)
  const isThere = await access(path).then(
    () => true,
    () => false,
  )
  if (!isThere) await ask(planSql(order, wholeScans(order), path))
  const [found = []] = await ask(`SELECT count(*) FROM ${readSql([path])}`)
  if (Number(found[0]) !== rows) throw differing()
  tell('sorting', rows)
}

/** What an earlier try finished may have been damaged since. */
async function forgetDamaged(job: Job, names: readonly string[]): Promise<void> {
  const { draft } = job
  for (const name of names) {
    const finished = draft.finished(name)
    if (!finished) continue
    job.tell('writing', doneRows(job, names))
    const now = await inspect(job, name).catch(() => null)
    const isSame = now?.rows === finished.rows && now.checksum === finished.checksum
    if (!isSame) draft.forget(name)
  }
}

async function writeFiles(job: Job, names: readonly string[]): Promise<void> {
  const { draft, layout, rows } = job
  const filesMax = await batchFiles(job.ask, job.order, job.room, layout.fileRows)
  for (let index = 0; index < names.length; index += 1) {
    const first = index
    const isMissing = (at: number) => at < names.length && !draft.finished(packedName(at))
    while (index < first + filesMax && isMissing(index)) index += 1
    if (index === first) continue
    const [from, to] = [first * layout.fileRows, Math.min(index * layout.fileRows, rows)]
    job.tell('writing', doneRows(job, names))
    await loadBatch(job, from, to)
    for (let at = first; at < index; at += 1) {
      draft.add(await writeFile(job, packedName(at), at * layout.fileRows - from))
      job.tell('writing', doneRows(job, names))
    }
    await draft.save()
    index -= 1
  }
  await job.ask('DROP TABLE IF EXISTS batch')
}

function doneRows({ draft }: Job, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (draft.finished(name)?.rows ?? 0), 0)
}

async function loadBatch({ order, pathOf, ask }: Job, from: number, to: number): Promise<void> {
  const plan = pathOf(planName)
  const [files = [], starts = [], ends = []] = await ask(rangesSql(plan, from, to))
  const stretches = files.map((file, index) => ({
    file: Number(file),
    from: Number(starts[index]),
    to: Number(ends[index]),
  }))
  await ask(batchSql(order, batchScans(order, stretches), { plan, from, to }))
}

async function writeFile(job: Job, name: string, from: number): Promise<FinishedFile> {
  const { order, layout, draft, pathOf, ask } = job
  await ask(fileSql(order, layout, pathOf(name), from, from + layout.fileRows))
  await draft.sync(name)
  return inspect(job, name)
}

/** Reads a packed file whole. @throws PackError where its rows are out of order */
async function inspect({ order, pathOf, ask }: Job, name: string): Promise<FinishedFile> {
  const path = pathOf(name)
  await requireOrder(order, ask, [path])
  const [rows = [], sums = []] = await ask(packedChecksumSql(order, path))
  return { name, rows: Number(rows[0]), checksum: String(sums[0]) }
}

/** Files are in order each; where they meet, their first and last rows tell. */
async function verify(job: Job, names: readonly string[]): Promise<void> {
  const { order, layout, draft, pathOf, ask, rows, tell } = job
  tell('verifying', 0)
  const ends = `file_row_number IN (0, ${layout.fileRows - 1})`
  await requireOrder(order, ask, names.map(pathOf), ends)
  const made = names.map((name) => draft.finished(name))
  const sum = made.reduce((total, file) => total + BigInt(file?.checksum ?? 0), 0n)
  let [foundRows, foundSum, done] = [0, 0n, 0]
  for (const { strand, rows: more } of checkScans(order)) {
    const [counts = [], sums = []] = await ask(scanChecksumSql(order, strand))
    foundRows += Number(counts[0])
    foundSum += BigInt(String(sums[0]))
    done += more
    tell('verifying', done)
  }
  const madeRows = doneRows(job, names)
  if (foundRows !== rows || madeRows !== rows || foundSum !== sum) throw differing()
}

async function requireOrder(
  order: PackOrder,
  ask: Ask,
  paths: readonly string[],
  where?: string,
): Promise<void> {
  if (order.key.length === 0) return
  const [wrong = []] = await ask(disorderSql(order, paths, where))
  if (Number(wrong[0]) > 0) throw new PackError('The packed rows came out in a wrong order.')
}

function differing(): PackError {
  return new PackError('The packed rows are not those of the files; nothing was kept.')
}
