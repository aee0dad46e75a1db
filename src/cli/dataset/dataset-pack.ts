import { stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Command } from 'commander'
import { openCatalog, readRegistry } from '../../catalog.js'
import { withDatasetFiles } from '../../registry/registry-edit.js'
import type { Registry } from '../../registry/registry.js'
import { listOf } from '../../registry/registry.js'
import { readRegistryText, writeRegistry } from '../../registry/write-registry.js'
import { escapePattern } from '../../versions/files/expand-pattern.js'
import { FileError } from '../../versions/opener.js'
import { packOrder } from '../../versions/packing/pack-order.js'
import { PackError } from '../../versions/packing/packer.js'
import type { PackOrder, PackProgress, PackedFile } from '../../versions/packing/packer.js'
import type { Version } from '../../versions/version.js'
import { addCommand, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { amountOf, printJson, printLines, sizeText } from '../print.js'
import { progressReport } from '../progress-bar.js'
import { findDataset } from '../read-registry.js'
import { packTarget } from './pack-target.js'

/** `das dataset pack`. */
export function addDatasetPack(group: Command, parts: CliParts): void {
  addCommand(group, {
    usage: 'pack <name>',
    description:
      'Write the dataset to new files that are sorted by its key, for fast look-ups; compare ' +
      'every cell; then change the registry to the new files. The source files are not changed.',
    options: (command) =>
      command
        .option('--to <folder>', 'folder for the new files (default: <source folder>-packed)')
        .option('--no-switch', 'do not change the registry'),
    settings: ['registry', 'memoryLimit'],
    json: 'print {name, folder, files, rows, bytes_before, bytes_after, seconds, switched}',
    examples: [
      'das dataset pack financials',
      'das dataset pack financials --to /fast/financials --no-switch',
      'das dataset pack financials --memory-limit 1GB --json',
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
  readonly seconds: number
}

async function pack(parts: CliParts, name: string, flags: Flags): Promise<void> {
  const config = readSettings(['registry', 'memoryLimit'], flags, parts.environment)
  // Read first: if the registry changes while files are packed, it is not overwritten.
  const before = await readRegistryText(config.registry)
  const registry = await readRegistry(config.registry)
  const entry = findDataset(registry, name)
  const wanted = typeof flags['to'] === 'string' ? flags['to'] : undefined
  const folder = await packTarget(name, entry, registry, wanted)
  const version = await openVersion(parts, registry, name, config.memoryLimit)
  if (version.key.length === 0) {
    parts.stderr.write(
      `warning: "${name}" has no key in the registry, so its rows are not sorted; list the ` +
        'columns of its look-ups in key\n',
    )
  }
  const packed = await packVersion(parts, registry, version, folder, config.memoryLimit, flags)
  const isSwitched = flags['switch'] !== false
  if (isSwitched) {
    const files = `${escapePattern(pathIn(registry, folder))}/*.parquet`
    await writeRegistry(before, withDatasetFiles(before.text ?? '', name, files))
  }
  if (flags.json) printJson(parts, packedJson(packed, isSwitched))
  else printLines(parts, ...packedLines(parts, registry, packed, isSwitched))
}

async function openVersion(
  parts: CliParts,
  registry: Registry,
  name: string,
  memoryLimit: number | null,
): Promise<Version> {
  const openFiles = parts.openFiles(memoryLimit)
  const { datasets } = await openCatalog(registry, { openFiles, versionsFolder: null }, name)
  const dataset = datasets.get(name)
  if (dataset?.version) return dataset.version
  throw new Error(`"${name}" can't be packed: ${dataset?.reason?.split('\n').join('; ')}`)
}

async function packVersion(
  parts: CliParts,
  registry: Registry,
  version: Version,
  folder: string,
  memoryLimit: number | null,
  flags: Flags,
): Promise<Packed> {
  const startedMs = performance.now()
  const progress = progressReport(parts, flags.json === true)
  const report = ({ stage, ...rows }: PackProgress) => {
    progress.report({ what: stage, ...rows, share: shareOf(stage, rows.rowsDone / rows.rows) })
  }
  const order = packOrder(version, folder, false, memoryLimit)
  try {
    const files = await parts.untilInterrupted((signal) =>
      parts.packFiles(order, { signal, report }).catch((cause: unknown) => {
        throw signal.aborted ? stopped(cause) : cause
      }),
    )
    let bytesAfter = 0
    for (const { path } of files) bytesAfter += (await stat(path)).size
    const seconds = Math.round((performance.now() - startedMs) / 100) / 10
    return { name: version.dataset, folder, version, files, bytesAfter, seconds }
  } catch (cause) {
    throw failureWords(cause, registry, order)
  } finally {
    progress.end()
  }
}

function failureWords(cause: unknown, registry: Registry, { dataset, target }: PackOrder): unknown {
  if (cause instanceof FileError) {
    return new Error(`${relative(registry.folder, cause.path)} ${cause.reason}`, { cause })
  }
  const code = cause instanceof PackError ? codeOf(cause.cause) : undefined
  if (code === undefined || !unwritable.includes(code)) return cause
  const place = `${pathIn(registry, target)}/`
  const advice =
    `Name another folder with --to, or write \`pack: auto\` in the entry of "${dataset}": then ` +
    'the server packs it into its state folder.'
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
  writing: [0.03, 0.83],
  verifying: [0.83, 1],
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

function packedJson(packed: Packed, isSwitched: boolean) {
  const { name, folder, version, files, bytesAfter, seconds } = packed
  return {
    name,
    folder,
    files: files.length,
    rows: version.rows,
    bytes_before: version.bytes,
    bytes_after: bytesAfter,
    seconds,
    switched: isSwitched,
  }
}

function packedLines(
  { stdout }: CliParts,
  registry: Registry,
  { name, folder, version, files, bytesAfter, seconds }: Packed,
  isSwitched: boolean,
): readonly string[] {
  const place = escapePattern(pathIn(registry, folder))
  const sizes = `${sizeText(version.bytes)} → ${sizeText(bytesAfter)}`
  const list = listOf(registry.datasets.get(name)?.files).join(', ')
  const rows = amountOf(stdout, version.rows, 'row')
  const amounts = `${rows} in ${amountOf(stdout, files.length, 'file')}`
  return [
    `${name}: ${amounts}, ${sizes}, in ${seconds} s; every cell was compared.`,
    ...(isSwitched
      ? [
          `The registry now has files: ${place}/*.parquet; the source files are unchanged.`,
          `A running server serves it within seconds. To undo this, write: files: ${list}`,
        ]
      : [`To serve it, write in the registry: files: ${place}/*.parquet`]),
  ]
}
