import { rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Command } from 'commander'
import { readRegistry, versionsFolderOf } from '../../catalog.js'
import { openDataset } from '../../catalog/open-dataset.js'
import type { Config } from '../../config.js'
import { recordAction } from '../../control/audit.js'
import { makePrivateFolder } from '../../control/store/private-file.js'
import { ServerLock } from '../../control/store/server-lock.js'
import { badRequest } from '../../errors.js'
import type { Registry } from '../../registry/registry.js'
import { NoSpaceError } from '../../versions/disk-space.js'
import { attachForms } from '../../versions/forms/attach-forms.js'
import type { Form } from '../../versions/forms/form.js'
import {
  formRecordName,
  formsFolderName,
  formsLockName,
  readFormRecord,
} from '../../versions/forms/form-record.js'
import type { FormRecord } from '../../versions/forms/form-record.js'
import { PackError, bytesOfForms, draftsOf, formsOrder } from '../../versions/forms/forms-order.js'
import type { FormsOrder, FormsProgress } from '../../versions/forms/forms-order.js'
import { FileError } from '../../versions/opener.js'
import type { Version } from '../../versions/version.js'
import { addPrinted } from '../command.js'
import type { Flags, Result } from '../command.js'
import { commandObjects, commandSpace, progressReport } from '../progress.js'
import type { CliParts } from '../parts.js'
import { amountOf, sizeText } from '../print.js'
import { findDataset } from '../read-registry.js'
import { withStore } from '../state.js'

type PackConfig = Pick<Config, 'registry' | 'state' | 'memoryLimit'>

/** `das dataset pack`. */
export function addDatasetPack(group: Command, parts: CliParts): void {
  addPrinted(group, parts, {
    usage: 'pack <name>',
    description:
      'Make the forms of a dataset that make questions fast: rows that are found by the key, ' +
      'pages, and search files; compare every cell. With `pack: auto` the server does this ' +
      'itself. A running server uses them within seconds. Neither the registry nor the files ' +
      'are changed.',
    options: (command) =>
      command
        .option('--remove', 'remove the forms: the files answer alone')
        .option('--to <folder>', 'gone and ignored: forms are for the server alone'),
    settings: ['registry', 'state', 'memoryLimit'],
    json: 'print {name, files, rows, file_bytes, forms: [{form, column, bytes}], seconds}',
    examples: [
      'das dataset pack financials',
      'das dataset pack financials --memory-limit 1GB --json',
      'das dataset pack financials --remove',
    ],
    run: (config, flags, name: string) => {
      if (flags['to'] !== undefined) {
        parts.stderr.write('warning: --to is gone and ignored; export rows for other tools\n')
      }
      return flags['remove'] === true
        ? remove(parts, config, name)
        : pack(parts, config, flags, name)
    },
  })
}

async function remove(parts: CliParts, config: PackConfig, name: string): Promise<Result> {
  const registry = await readRegistry(config.registry)
  const { pack: mode } = findDataset(registry, name)
  const folder = formsFolderOf(config, name)
  if (ServerLock.isHeld(join(folder, formsLockName))) {
    throw new Error(`"${name}" is being packed. Wait until that ends, then remove the forms.`)
  }
  // First, so that a running server does not take the others for damaged.
  await rm(join(folder, formRecordName), { force: true })
  await rm(folder, { recursive: true, force: true })
  await record(parts, config, 'pack.removed', name, {})
  const lines = [
    `${name}: the forms are removed. A running server reads the files alone within seconds.`,
    ...(mode === 'off' ? [] : ['It may make them again: set pack: off in the registry first.']),
  ]
  return { json: { name, removed: true }, lines }
}

async function pack(
  parts: CliParts,
  config: PackConfig,
  flags: Flags,
  name: string,
): Promise<Result> {
  const registry = await readRegistry(config.registry)
  const version = await openSources(parts, config, registry, name, flags)
  if (version.lookUps.length === 0) {
    const advice = 'list the columns of its look-ups in key'
    parts.stderr.write(`warning: "${name}" has no key in the registry: ${advice}\n`)
  }
  const folder = formsFolderOf(config, name)
  const { made, missing } = await attachForms(version, folder)
  const startedMs = parts.clock.monotonicMs()
  const order = formsOrder(version, folder, missing, config.memoryLimit)
  if (missing.length > 0) await make(parts, config, registry, order, flags)
  const seconds = Math.round((parts.clock.monotonicMs() - startedMs) / 100) / 10
  if (missing.length > 0) {
    await record(parts, config, 'pack.made', name, { forms: missing.length, seconds })
  }
  const forms = sizesOf(version, [...made, ...missing], await readFormRecord(folder))
  const { files, rows, bytes } = version
  return {
    json: { name, files: files.length, rows, file_bytes: bytes, forms, seconds },
    lines: packedLines(parts, version, forms, missing.length > 0 ? seconds : null),
  }
}

function formsFolderOf({ state }: PackConfig, name: string): string {
  return join(versionsFolderOf(state), name, formsFolderName)
}

async function record(
  parts: CliParts,
  { state }: PackConfig,
  action: 'pack.made' | 'pack.removed',
  subject: string,
  details: Readonly<Record<string, number>>,
): Promise<void> {
  await withStore(parts, state, async (store) => {
    await recordAction(store, { action, subject, details, now: parts.clock.now() })
  })
}

async function openSources(
  parts: CliParts,
  { state, memoryLimit }: PackConfig,
  registry: Registry,
  name: string,
  { json }: Flags,
): Promise<Version> {
  const entry = findDataset(registry, name)
  if (entry.table !== undefined) {
    throw badRequest(`"${name}" is a table of Trino. Only datasets of files are packed.`)
  }
  const { dataset } = await openDataset(name, entry, registry, {
    clock: parts.clock,
    openFiles: parts.openFiles(memoryLimit),
    versionsFolder: null,
    objects: commandObjects(parts, state, json === true),
  })
  if (dataset.version) return dataset.version
  throw new Error(`"${name}" can't be packed: ${dataset.reason?.split('\n').join('; ')}`)
}

/** Makes forms, if the limit of the state folder leaves room for them. */
async function make(
  parts: CliParts,
  { state }: PackConfig,
  registry: Registry,
  order: FormsOrder,
  flags: Flags,
): Promise<void> {
  const progress = progressReport(parts, flags.json === true)
  const report = ({ stage, ...rows }: FormsProgress) => {
    progress.report({ what: stage, ...rows })
  }
  try {
    makePrivateFolder(order.folder)
    const bytes = await bytesOfForms(order)
    await commandSpace(parts, state).during(bytes, draftsOf(order.folder), () =>
      parts.untilInterrupted((signal) =>
        parts.makeForms(order, { signal, report }).catch((cause: unknown) => {
          throw signal.aborted ? new Error(stopped, { cause }) : cause
        }),
      ),
    )
  } catch (cause) {
    throw failureWords(cause, registry)
  } finally {
    progress.end()
  }
}

const stopped = 'Stopped. The finished forms are kept; run the same command to continue.'

/** Error codes for a folder that can't be written. */
const unwritable: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOENT']

function failureWords(cause: unknown, registry: Registry): unknown {
  if (cause instanceof NoSpaceError) return new Error(`Packing ${cause.message}.`)
  if (cause instanceof FileError) {
    return new Error(`${relative(registry.folder, cause.path)} ${cause.reason}`, { cause })
  }
  const { code } = (cause instanceof PackError ? cause.cause : cause) as NodeJS.ErrnoException
  if (!unwritable.includes(code)) return cause
  const advice = 'Run the command as the user of the server.'
  return new Error(`The state folder can't be written (${code}). ${advice}`, { cause })
}

interface FormSize {
  readonly form: Form['kind']
  /** Of a search file. */
  readonly column: string | null
  readonly bytes: number
}

/** What the forms of each kind take. */
function sizesOf(
  { columns }: Version,
  forms: readonly Form[],
  finished: FormRecord,
): readonly FormSize[] {
  const groups = Map.groupBy(forms, ({ kind, column }) => `${kind} ${column}`)
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const column = columns.find(({ source }) => source === first.column)?.name ?? null
    const bytes = group.reduce((sum, { name }) => sum + (finished[name]?.sizeBytes ?? 0), 0)
    return [{ form: first.kind, column, bytes }]
  })
}

/** `seconds` is null where all forms were made before. */
function packedLines(
  { stdout }: CliParts,
  { dataset, files, rows, bytes: fileBytes }: Version,
  forms: readonly FormSize[],
  seconds: number | null,
): readonly string[] {
  const amounts = `${amountOf(stdout, rows, 'row')} in ${amountOf(stdout, files.length, 'file')}`
  const sizes = forms.map(({ form, column, bytes }) => {
    return `${column === null ? form : `${form} of ${column}`} ${sizeText(bytes)}`
  })
  const what = `${dataset}: ${amounts}, ${sizeText(fileBytes)}`
  if (seconds === null) return [`${what}; its forms are made already: ${sizes.join(', ')}.`]
  return [
    `${what}; ${sizes.join(', ')}, in ${seconds} s; every cell was compared.`,
    'A running server uses the forms within seconds, another at its next start.',
  ]
}
