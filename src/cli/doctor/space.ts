import { stat, statfs } from 'node:fs/promises'
import { listOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { splitPattern } from '../../versions/files/expand-pattern.js'
import { sizeText } from '../print.js'
import { fail, ok, warn } from './finding.js'
import type { Finding } from './finding.js'

const check = 'disk'
/** Charges, letters and the audit trail are written for days. */
const freeBytesMin = 500e6
/** A new version may need a copy of its files. */
const freeShareGood = 0.1
const inodeShareMin = 0.01

/** Space and inodes of a file system, as `statfs` reports them. */
export interface Space {
  readonly bsize: number
  readonly blocks: number
  /** Blocks that a user may take. */
  readonly bavail: number
  /** All inodes; 0 = the file system makes them as needed. */
  readonly files: number
  readonly ffree: number
}

/** Free space and inodes of the disks with the state and the data. */
export async function spaceFindings(
  stateFolder: string,
  registry: Registry | null,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const seen = new Set<number>()
  for (const folder of [stateFolder, ...(await dataFolders(registry))]) {
    const found = await stat(folder).catch(() => null)
    if (!found || seen.has(found.dev)) continue
    seen.add(found.dev)
    findings.push(...diskFindings(folder, await statfs(folder), folder === stateFolder))
  }
  return findings
}

/** Whether a disk has room; the service only reads a disk without its state. */
export function diskFindings(
  folder: string,
  { bsize, blocks, bavail, files, ffree }: Space,
  hasState: boolean,
): readonly Finding[] {
  const free = `${sizeText(bavail * bsize)} of ${sizeText(blocks * bsize)} free at ${folder}`
  const advice = 'docs/runbook.md, "The disk is full", says what may go'
  const low = hasState ? fail : warn
  const findings: Finding[] = []
  if (bavail * bsize < freeBytesMin) findings.push(low(check, free, advice))
  else if (bavail < freeShareGood * blocks) findings.push(warn(check, free, advice))
  if (files > 0 && ffree < inodeShareMin * files) {
    const inodes = `${ffree} of ${files} inodes free at ${folder}`
    findings.push(low(check, inodes, 'remove small files that are not needed'))
  }
  return findings.length > 0 ? findings : [ok(check, free)]
}

async function dataFolders(registry: Registry | null): Promise<readonly string[]> {
  if (registry === null) return []
  const patterns = [...registry.datasets.values()].flatMap(({ files }) => listOf(files))
  const split = await Promise.all(patterns.map((each) => splitPattern(registry.folder, each)))
  return [...new Set(split.map(({ base }) => base))]
}
