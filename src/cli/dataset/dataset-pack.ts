import { stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Command } from 'commander'
import { readRegistry, versionsFolderOf } from '../../catalog.js'
import { copyOf, openDataset } from '../../catalog/open-dataset.js'
import type { OpenOptions } from '../../catalog/open-dataset.js'
import { makePrivateFolder } from '../../control/store/private-file.js'
import { badRequest } from '../../errors.js'
import type { Registry } from '../../registry/registry.js'
import { NoSpaceError } from '../../versions/disk-space.js'
import type { DiskSpace } from '../../versions/disk-space.js'
import { FileError } from '../../versions/opener.js'
import { packOrder } from '../../versions/packing/pack-order.js'
import { readPackRecord } from '../../versions/packing/pack-record.js'
import { PackError, draftOf } from '../../versions/packing/packer.js'
import type { PackOrder, PackProgress, PackedFile } from '../../versions/packing/packer.js'
import type { Content } from '../../versions/store/manifest.js'
import type { Version } from '../../versions/version.js'
import { addCommand, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import { commandObjects, commandSpace } from '../command-objects.js'
import type { CliParts } from '../parts.js'
import { amountOf, printJson, printLines, sizeText } from '../print.js'
import { progressReport } from '../progress-bar.js'
import { findDataset } from '../read-registry.js'
import { recordPacked } from './dataset-audit.js'
import { packTarget } from './pack-target.js'

/** `das dataset pack`. */
export function addDatasetPack(group: Command, parts: CliParts): void {
  addCommand(group, {
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
  }).action((name: string, flags: Flags) => pack(parts, name, flags))
}

/** The result of packing. */
interface Packed {
  readonly name: string
  readonly folder: string
  readonly version: Version
  readonly files: readonly PackedFile[]
  readonly bytesAfter: number
  readonly search: readonly SearchSize[]
  readonly seconds: number
}

/** The size of a searched column's search file. */
interface SearchSize {
  readonly column: string
  readonly bytes: number
}

async function pack(parts: CliParts, name: string, flags: Flags): Promise<void> {
  const config = readSettings(['registry', 'state', 'memoryLimit'], flags, parts.environment)
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
  const write = () => packVersion(parts, registry, version, order, flags)
  const space = exported === null ? commandSpace(parts, config.state) : null
  const packed = space ? await inSpace(space, order, version.bytes, write) : await write()
  if (exported === null) await recordPacked(parts, config.state, packed)
  if (flags.json) printJson(parts, packedJson(packed))
  else printLines(parts, ...packedLines(parts, registry, packed, exported !== null))
}

/** Packs into the state folder, if its limit leaves room for what the files take. */
async function inSpace(
  space: DiskSpace,
  { target }: PackOrder,
  bytes: number,
  write: () => Promise<Packed>,
): Promise<Packed> {
  try {
    return await space.during(bytes, draftOf(target), write)
  } catch (cause) {
    throw cause instanceof NoSpaceError ? new Error(`The packed copy ${cause.message}.`) : cause
  }
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

async function packVersion(
  parts: CliParts,
  registry: Registry,
  version: Version,
  order: PackOrder,
  flags: Flags,
): Promise<Packed> {
  const startedMs = parts.clock.monotonicMs()
  const progress = progressReport(parts, flags.json === true)
  const report = ({ stage, ...rows }: PackProgress) => {
    progress.report({ what: stage, ...rows, share: shareOf(stage, rows.rowsDone / rows.rows) })
  }
  try {
    const files = await parts.untilInterrupted(async (signal) => {
      makeParent(order)
      return parts.packFiles(order, { signal, report }).catch((cause: unknown) => {
        throw signal.aborted ? stopped(cause) : cause
      })
    })
    let bytesAfter = 0
    for (const { path } of files) bytesAfter += (await stat(path)).size
    const search = await searchSizes(order)
    const seconds = Math.round((parts.clock.monotonicMs() - startedMs) / 100) / 10
    const folder = order.target
    return { name: version.dataset, folder, version, files, bytesAfter, search, seconds }
  } catch (cause) {
    throw failureWords(cause, registry, order)
  } finally {
    progress.end()
  }
}

async function searchSizes({ target, search }: PackOrder): Promise<readonly SearchSize[]> {
  const sizes: SearchSize[] = []
  for (const { column, name } of (await readPackRecord(target))?.search ?? []) {
    if (!search.includes(column)) continue
    const { size } = await stat(join(target, name))
    sizes.push({ column, bytes: size })
  }
  return sizes
}

/** @throws PackError if the state folder can't be written */
function makeParent({ target, isNamedByContent }: PackOrder): void {
  if (!isNamedByContent) return
  try {
    makePrivateFolder(dirname(target))
  } catch (cause) {
    throw new PackError("the folder can't be written", cause)
  }
}

function failureWords(cause: unknown, registry: Registry, order: PackOrder): unknown {
  if (cause instanceof FileError) {
    return new Error(`${relative(registry.folder, cause.path)} ${cause.reason}`, { cause })
  }
  const code = cause instanceof PackError ? codeOf(cause.cause) : undefined
  if (code === undefined || !unwritable.includes(code)) return cause
  const place = `${pathIn(registry, order.target)}/`
  const advice = order.isNamedByContent
    ? 'Run the command as the user of the server.'
    : 'Name another folder with --to.'
  return new Error(`${place} can't be written (${code}). ${advice}`, { cause })
}

/** Error codes for a folder that can't be written. */
const unwritable: readonly string[] = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOENT']

function codeOf(cause: unknown): string | undefined {
  return (cause as NodeJS.ErrnoException | undefined)?.code
}

function stopped(cause: unknown): Error {
  const message = 'Stopped. The finished files are kept; run the same command to continue.'
  return new Error(message, { cause })
}

/** The measured share of each stage in the whole. */
const stageShares: Readonly<Record<PackProgress['stage'], readonly [from: number, to: number]>> = {
  sorting: [0, 0.03],
  writing: [0.03, 0.81],
  verifying: [0.81, 0.97],
  indexing: [0.97, 1],
}

function shareOf(stage: PackProgress['stage'], done: number): number {
  const [from, to] = stageShares[stage]
  return from + (to - from) * (Number.isNaN(done) ? 0 : done)
}

/** Relative if the path is beside or under the registry, so that both can be moved together. */
function pathIn({ folder }: Registry, path: string): string {
  const near = relative(folder, path)
  const isFar = near.startsWith(join('..', '..')) || isAbsolute(near)
  return (isFar ? resolve(path) : near).split(sep).join('/')
}

function packedJson({ name, folder, version, files, bytesAfter, search, seconds }: Packed) {
  return {
    name,
    folder,
    files: files.length,
    rows: version.rows,
    bytes_before: version.bytes,
    bytes_after: bytesAfter,
    search,
    seconds,
  }
}

function packedLines(
  { stdout }: CliParts,
  registry: Registry,
  { name, folder, version, files, bytesAfter, search, seconds }: Packed,
  isExported: boolean,
): readonly string[] {
  const sizes = `${sizeText(version.bytes)} → ${sizeText(bytesAfter)}`
  const rows = amountOf(stdout, version.rows, 'row')
  const amounts = `${rows} in ${amountOf(stdout, files.length, 'file')}`
  return [
    `${name}: ${amounts}, ${sizes}, in ${seconds} s; every cell was compared.`,
    ...search.map(({ column, bytes }) => `Search file of ${column}: ${sizeText(bytes)}.`),
    isExported
      ? `The files are in ${pathIn(registry, folder)}/; the server does not use them.`
      : 'A running server serves the copy within seconds, another at its next start.',
  ]
}
