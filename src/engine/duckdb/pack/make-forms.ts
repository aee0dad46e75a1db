import { chmod, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { machineClock } from '../../../clock.js'
import { giveToFolderOwner, makePrivateFolder } from '../../../control/store/private-file.js'
import { ServerLock } from '../../../control/store/server-lock.js'
import { identityOf } from '../../../versions/files/find-files.js'
import type { Form } from '../../../versions/forms/form.js'
import {
  formRecordName,
  formsLockName,
  readFormRecord,
  writeFormRecord,
} from '../../../versions/forms/form-record.js'
import type { FinishedForm } from '../../../versions/forms/form-record.js'
import { PackError, draftsOf, rowsOfForms } from '../../../versions/forms/forms-order.js'
import type {
  FileToCopy,
  FormsOrder,
  FormsProgress,
  MakeForms,
} from '../../../versions/forms/forms-order.js'
import { hashFile } from '../../../versions/hash-file.js'
import { FileError } from '../../../versions/opener.js'
import { foldersOf } from '../paths.js'
import { withPlainPaths } from '../plain-paths.js'
import type { PlainPaths } from '../plain-paths.js'
import { runnerOn } from '../run-statement.js'
import type { RunStatement } from '../run-statement.js'
import { inSandbox } from '../sandbox.js'
import { packFailure } from './pack-failure.js'
import { packLimits } from './pack-limits.js'
import type { PackLimits } from './pack-limits.js'
import { writeNames } from './write-names.js'
import { writePages } from './write-pages.js'
import { writeRows } from './write-rows.js'
import { writeSearch } from './write-search.js'

const reportEveryMs = 1000

/** The state of a running packing. */
interface Packing {
  /** Its paths are those that DuckDB can read. */
  readonly order: FormsOrder
  /** Which may be read: DuckDB follows a link before it checks. */
  readonly folders: readonly string[]
  readonly limits: PackLimits
  readonly signal: AbortSignal
  readonly paths: PlainPaths
  /** Lists a finished form, which is in its place. */
  readonly finish: (form: Form, finished: FinishedForm) => Promise<void>
  readonly report: (rows: number) => void
}

/**
 * Makes the forms of an order: those of different files side by side, each on one thread, because
 * their rows must stay in order; then those of all files. Each is listed as soon as it is finished.
 */
export const makeForms: MakeForms = async (order, options) => {
  const { signal } = options
  makePrivateFolder(order.folder)
  const lock = takeLock(order)
  try {
    await makeLocked(order, options)
  } catch (cause) {
    signal.throwIfAborted()
    throw packFailure(cause, order)
  } finally {
    lock.release()
  }
}

const makeLocked: MakeForms = async (order, { signal, report }) => {
  const drafts = draftsOf(order.folder)
  await rm(drafts, { recursive: true, force: true })
  makePrivateFolder(drafts)
  const limits = await packLimits(order)
  const record = await presentForms(order.folder)
  const rows = rowsOfForms(order, order.forms)
  const isIndexing = order.forms.every(({ kind }) => kind === 'search')
  const folders = foldersOf(order.files.map(({ path }) => path))
  let progress: FormsProgress = { stage: isIndexing ? 'indexing' : 'writing', rowsDone: 0, rows }
  report(progress)
  const stopReports = machineClock.every(reportEveryMs, () => report(progress))
  let saved: Promise<unknown> = Promise.resolve()
  try {
    await withPlainPaths(async (paths) => {
      await makeAll({
        ...{ order: paths.order(order), folders, limits, signal, paths },
        finish: async ({ name }, finished) => {
          record[name] = finished
          saved = saved.then(() => saveRecord(order.folder, record))
          await saved
        },
        report: (done) => {
          progress = { ...progress, rowsDone: progress.rowsDone + done }
        },
      })
    })
  } finally {
    stopReports()
    await rm(drafts, { recursive: true, force: true })
  }
}

async function makeAll(packing: Packing): Promise<void> {
  const { order, limits } = packing
  const ofFiles = order.forms.filter(({ file }) => file !== null)
  const waiting = [...Map.groupBy(ofFiles, ({ file }) => file ?? 0)]
  const jobs = Math.min(limits.jobs, waiting.length)
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, forms] = next
      const file = order.files[index]
      if (file) await makeOfFile(packing, file, forms, jobs)
    }
  }
  // People wait for it, and it is made soonest. Its failure leaves no other form out.
  const [names] = order.forms.filter(({ kind }) => kind === 'names')
  const named = names ? await Promise.allSettled([makeNames(packing, names)]) : []
  packing.signal.throwIfAborted()
  await Promise.all(Array.from({ length: jobs }, work))
  for (const form of order.forms.filter(({ kind }) => kind === 'search')) {
    await makeSearch(packing, form)
  }
  for (const each of named) if (each.status === 'rejected') throw each.reason
}

/** Pages first: the row copy is read from them. */
async function makeOfFile(
  packing: Packing,
  file: FileToCopy,
  forms: readonly Form[],
  jobs: number,
): Promise<void> {
  const { order, paths } = packing
  const [pages, rows] = ['pages', 'rows'].map((kind) => forms.find((form) => form.kind === kind))
  const done: { form: Form; finished: FinishedForm }[] = []
  await requireSame(file)
  await withRunner(packing, { jobs, threads: 1 }, async (run) => {
    let source = file
    if (pages) {
      const draft = draftPath(order, pages)
      const isMade = await writePages(file, paths.of(draft), run)
      if (isMade) source = { ...file, path: paths.of(draft), marks: new Map() }
      done.push({ form: pages, finished: isMade ? await factsOf(draft) : null })
      packing.report(file.rows)
    }
    if (rows) {
      const draft = draftPath(order, rows)
      done.push({
        form: rows,
        finished: await writeRows(order, source, draft, run, packing.report),
      })
    }
  })
  await requireSame(file)
  if ((await hashFile(file.path)) !== file.contentHash) {
    throw new FileError(file.path, 'is damaged: its content is not what it was published with')
  }
  for (const { form, finished } of done) await moveIn(packing, form, finished)
}

async function makeSearch(packing: Packing, form: Form): Promise<void> {
  const { order, paths } = packing
  const draft = draftPath(order, form)
  const threads = order.files.length > 1 ? packing.limits.jobs : 1
  await withRunner(packing, { jobs: 1, threads }, (run) =>
    writeSearch(order, form.column ?? '', paths.of(draft), run),
  )
  for (const file of order.files) await requireSame(file)
  packing.report(rowsOfForms(order, [form]))
  await moveIn(packing, form, await factsOf(draft))
}

async function makeNames(packing: Packing, form: Form): Promise<void> {
  const { order, paths } = packing
  const draft = draftPath(order, form)
  const rows = join(draftsOf(order.folder), 'names.parquet')
  await withRunner(packing, { jobs: 1, threads: packing.limits.jobs }, (run) =>
    writeNames(order, draft, paths.of(rows), run),
  )
  for (const file of order.files) await requireSame(file)
  packing.report(rowsOfForms(order, [form]))
  await moveIn(packing, form, await factsOf(draft))
}

/** Runs statements in an instance of their own, which has its share of memory for one of `jobs`. */
function withRunner<T>(
  { order, folders, limits, signal }: Packing,
  { jobs, threads }: { readonly jobs: number; readonly threads: number },
  work: (run: RunStatement) => Promise<T>,
): Promise<T> {
  const drafts = draftsOf(order.folder)
  const options = {
    folders: [...folders, drafts],
    tempFolder: join(drafts, 'tmp'),
    memoryLimitBytes: Math.floor(limits.memoryLimitBytes / jobs),
    threads,
    tempSizeMaxBytes: limits.tempSizeMaxBytes,
  }
  return inSandbox(options, (connection) => work(runnerOn(connection, signal)))
}

function draftPath({ folder }: FormsOrder, { name }: Form): string {
  return join(draftsOf(folder), name)
}

async function factsOf(path: string): Promise<NonNullable<FinishedForm>> {
  return { sizeBytes: (await stat(path)).size, hash: await hashFile(path) }
}

/** Moves a finished form to its place, durably, and lists it. */
async function moveIn(packing: Packing, form: Form, finished: FinishedForm): Promise<void> {
  const { folder } = packing.order
  if (finished !== null) {
    const draft = draftPath(packing.order, form)
    await chmod(draft, 0o600)
    giveToFolderOwner(draft)
    await sync(draft)
    await rename(draft, join(folder, form.name))
    await sync(folder)
  }
  await packing.finish(form, finished)
}

async function saveRecord(folder: string, record: Record<string, FinishedForm>): Promise<void> {
  await writeFormRecord(folder, record)
  giveToFolderOwner(join(folder, formRecordName))
}

/** The listed forms whose files are still there. */
async function presentForms(folder: string): Promise<Record<string, FinishedForm>> {
  const present: Record<string, FinishedForm> = {}
  for (const [name, form] of Object.entries(await readFormRecord(folder))) {
    const found = form && (await stat(join(folder, name)).catch(() => null))
    if (form === null || found) present[name] = form
  }
  return present
}

/** @throws PackError if the file is not the one of the order any more */
async function requireSame({ path, guard }: FileToCopy): Promise<void> {
  const found = await stat(path, { bigint: true }).catch((cause: unknown) => {
    throw new FileError(path, "can't be read", cause)
  })
  if (guard === null || identityOf(found) === guard) return
  throw new PackError('A file was replaced while it was packed. Pack again.')
}

async function sync(path: string): Promise<void> {
  await using file = await open(path)
  await file.sync()
}

function takeLock({ folder, dataset }: FormsOrder): ServerLock {
  const text = `Another process is packing "${dataset}" already. It goes on; wait for it.`
  try {
    return ServerLock.take(join(folder, formsLockName), text)
  } catch (cause) {
    throw cause instanceof Error && cause.message === text ? new PackError(text, cause) : cause
  }
}
