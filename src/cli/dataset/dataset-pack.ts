import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Command } from 'commander'
import { isDynamicPattern } from 'tinyglobby'
import { readRegistry, versionsFolderOf } from '../../catalog.js'
import { copyOf, openDataset } from '../../catalog/open-dataset.js'
import type { OpenOptions } from '../../catalog/open-dataset.js'
import type { Config } from '../../config.js'
import { recordAction } from '../../control/audit.js'
import { makePrivateFolder } from '../../control/store/private-file.js'
import { badRequest } from '../../errors.js'
import type { DatasetEntry } from '../../registry/registry-schema.js'
import { listOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { NoSpaceError } from '../../versions/disk-space.js'
import { splitPattern } from '../../versions/files/expand-pattern.js'
import { FileError } from '../../versions/opener.js'
import { packOrder } from '../../versions/packing/pack-order.js'
import { readPackRecord } from '../../versions/packing/pack-record.js'
import { PackError, draftOf } from '../../versions/packing/packer.js'
import type { PackOrder, PackProgress, PackedFile } from '../../versions/packing/packer.js'
import type { Content } from '../../versions/store/manifest.js'
import type { Version } from '../../versions/version.js'
import { addPrinted } from '../command.js'
import type { Flags, Result } from '../command.js'
import { commandObjects, commandSpace, progressReport } from '../progress.js'
import type { CliParts } from '../parts.js'
import { amountOf, sizeText } from '../print.js'
import { findDataset } from '../read-registry.js'
import { withStore } from '../state.js'

/** `das dataset pack`. */
export function addDatasetPack(group: Command, parts: CliParts): void {
  addPrinted(group, parts, {
    usage: 'pack <name>',
    description:
      'Copy the dataset into the state folder, sorted by its key, for fast look-ups; compare ' +
      'every cell. A running server serves the copy within seconds, another at its next start. ' +
      'Neither the registry nor the source files are changed.',
    options: (command) =>
      command.option(
        '--to <folder>',
        'write the copy to this folder instead, for other tools; the server does not use it',
      ),
    settings: ['registry', 'state', 'memoryLimit'],
    json:
      'print {name, folder, files, rows, bytes_before, bytes_after, search: [{column, bytes}], ' +
      'seconds}',
    examples: [
      'das dataset pack financials',
      'das dataset pack financials --memory-limit 1GB --json',
      'das dataset pack financials --to /exports/financials',
    ],
    run: (config, flags, name: string) => pack(parts, config, flags, name),
  })
}

async function pack(
  parts: CliParts,
  config: Pick<Config, 'registry' | 'state' | 'memoryLimit'>,
  flags: Flags,
  name: string,
): Promise<Result> {
  const registry = await readRegistry(config.registry)
  const entry = findDataset(registry, name)
  const to = typeof flags['to'] === 'string' ? flags['to'] : null
  const exported = to === null ? null : await packTarget(name, entry, registry, to)
  const { version, content } = await openSources(registry, name, {
    clock: parts.clock,
    openFiles: parts.openFiles(config.memoryLimit),
    versionsFolder: null,
    objects: commandObjects(parts, config.state, flags.json === true),
  })
  if (version.key.length === 0) {
    parts.stderr.write(
      `warning: "${name}" has no key in the registry, so its rows are not sorted; list the ` +
        'columns of its look-ups in key\n',
    )
  }
  const parent = join(versionsFolderOf(config.state), name)
  const target = exported ?? copyOf(parent, entry, content)
  const order = packOrder(version, target, exported === null, config.memoryLimit)
  const startedMs = parts.clock.monotonicMs()
  const files = await packFiles(parts, config.state, registry, version, order, flags)
  const seconds = Math.round((parts.clock.monotonicMs() - startedMs) / 100) / 10
  if (exported === null) {
    const details = { files: files.length, seconds }
    const action = { action: 'pack.made', subject: name, details } as const
    await withStore(parts, config.state, async (store) => {
      await recordAction(store, { ...action, now: parts.clock.now() })
    })
  }
  const search = await searchSizes(order)
  let bytesAfter = 0
  for (const { path } of files) bytesAfter += (await stat(path)).size
  const packed = {
    ...{ name, folder: target, files: files.length, rows: version.rows },
    ...{ bytes_before: version.bytes, bytes_after: bytesAfter, search, seconds },
  }
  const lines = packedLines(parts, packed, exported && pathIn(registry, exported))
  return { json: packed, lines }
}

/**
 * The folder of `--to`.
 * @throws bad_request for a folder that the dataset's patterns match, or that exists and is not an
 *   earlier pack of this dataset
 */
async function packTarget(
  name: string,
  entry: DatasetEntry,
  registry: Registry,
  to: string,
): Promise<string> {
  const target = resolve(to)
  const shown = `${relative(registry.folder, target) || '.'}/`
  for (const pattern of listOf(entry.files)) {
    if (!(await reaches(registry.folder, pattern, target))) continue
    throw badRequest(
      `The dataset's files match the folder ${shown}. Name another folder with --to.`,
    )
  }
  const isThere = existsSync(target)
  if (isThere && (await readPackRecord(target))?.dataset !== name) {
    throw badRequest(
      `${shown} exists and is not a pack of "${name}". Name another folder with --to.`,
    )
  }
  return target
}

/** Whether a glob matches files in the target folder, or in the draft folder beside it. */
async function reaches(folder: string, pattern: string, target: string): Promise<boolean> {
  const { base, rest } = await splitPattern(folder, pattern)
  const isFile = (await stat(join(base, rest)).catch(() => undefined))?.isFile() ?? false
  if (isFile || !isDynamicPattern(rest)) return false
  const inside = relative(base, target)
  if (inside === '..' || inside.startsWith(`..${sep}`)) return false
  const parts = rest.split('/')
  const depth = inside === '' ? 1 : inside.split(sep).length + 1
  return parts.includes('**') || parts.length === depth
}

async function openSources(
  registry: Registry,
  name: string,
  options: OpenOptions,
): Promise<{ readonly version: Version; readonly content: Content }> {
  const entry = findDataset(registry, name)
  if (entry.table !== undefined) {
    throw badRequest(`"${name}" is a table of Trino. Only datasets of files are packed.`)
  }
  const { dataset, content } = await openDataset(name, entry, registry, options)
  if (content && dataset.version) return { version: dataset.version, content }
  throw new Error(`"${name}" can't be packed: ${dataset.reason?.split('\n').join('; ')}`)
}

/** Packs, into the state folder only if its limit leaves room for what the files take. */
async function packFiles(
  parts: CliParts,
  state: string,
  registry: Registry,
  version: Version,
  order: PackOrder,
  flags: Flags,
): Promise<readonly PackedFile[]> {
  const progress = progressReport(parts, flags.json === true)
  const report = ({ stage, ...rows }: PackProgress) => {
    progress.report({ what: stage, ...rows })
  }
  const write = () =>
    parts.untilInterrupted(async (signal) => {
      if (order.isNamedByContent) makePrivateFolder(dirname(order.target))
      return parts.packFiles(order, { signal, report }).catch((cause: unknown) => {
        throw signal.aborted ? new Error(stopped, { cause }) : cause
      })
    })
  try {
    if (!order.isNamedByContent) return await write()
    return await commandSpace(parts, state).during(version.bytes, draftOf(order.target), write)
  } catch (cause) {
    throw failureWords(cause, registry, order)
  } finally {
    progress.end()
  }
}

const stopped = 'Stopped. The finished files are kept; run the same command to continue.'

/** Error codes for a folder that can't be written. */
const unwritable: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOENT']

function failureWords(cause: unknown, registry: Registry, order: PackOrder): unknown {
  if (cause instanceof NoSpaceError) return new Error(`The packed copy ${cause.message}.`)
  if (cause instanceof FileError) {
    return new Error(`${relative(registry.folder, cause.path)} ${cause.reason}`, { cause })
  }
  const { code } = (cause instanceof PackError ? cause.cause : cause) as NodeJS.ErrnoException
  if (!unwritable.includes(code)) return cause
  const advice = order.isNamedByContent
    ? 'Run the command as the user of the server.'
    : 'Name another folder with --to.'
  const place = `${pathIn(registry, order.target)}/`
  return new Error(`${place} can't be written (${code}). ${advice}`, { cause })
}

/** The size of each searched column's search file. */
async function searchSizes({ target, search }: PackOrder) {
  const sizes: { readonly column: string; readonly bytes: number }[] = []
  for (const { column, name } of (await readPackRecord(target))?.search ?? []) {
    if (!search.includes(column)) continue
    sizes.push({ column, bytes: (await stat(join(target, name))).size })
  }
  return sizes
}

/** Relative if the path is beside or under the registry, so that both can be moved together. */
function pathIn({ folder }: Registry, path: string): string {
  const near = relative(folder, path)
  const isFar = near.startsWith(join('..', '..')) || isAbsolute(near)
  return (isFar ? resolve(path) : near).split(sep).join('/')
}

interface Packed {
  readonly name: string
  readonly files: number
  readonly rows: number
  readonly bytes_before: number
  readonly bytes_after: number
  readonly search: readonly { readonly column: string; readonly bytes: number }[]
  readonly seconds: number
}

/** `exported` is the folder of `--to`; null = the state folder. */
function packedLines(
  { stdout }: CliParts,
  { name, rows, files, seconds, search, ...bytes }: Packed,
  exported: string | null,
): readonly string[] {
  const sizes = `${sizeText(bytes.bytes_before)} → ${sizeText(bytes.bytes_after)}`
  const amounts = `${amountOf(stdout, rows, 'row')} in ${amountOf(stdout, files, 'file')}`
  return [
    `${name}: ${amounts}, ${sizes}, in ${seconds} s; every cell was compared.`,
    ...search.map(({ column, bytes }) => `Search file of ${column}: ${sizeText(bytes)}.`),
    exported === null
      ? 'A running server serves the copy within seconds, another at its next start.'
      : `The files are in ${exported}/; the server does not use them.`,
  ]
}
