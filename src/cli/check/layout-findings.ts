import { many, quoted } from '../../text.js'
import { compareText } from '../../versions/choose-files.js'
import type { FileFooter } from '../../versions/inspector.js'
import type { PackGain } from '../../versions/packing/packer.js'
import type { Bounds, Version } from '../../versions/version.js'
import { finding } from './finding-table.js'
import type { Finding } from './finding-table.js'

/** Smaller datasets answer fast in any layout. */
const rowsMin = 100_000
const rowGroupRowsMax = 200_000
const rowGroupRowsMin = 2000
const smallFilesMin = 1000
const smallFileRows = 10_000
/** One value may end a sorted file and begin the next. */
const filesPerLookUpMax = 2

/** Properties of the files' layout that make look-ups slow. */
export function layoutFindings(
  version: Version,
  footers: readonly FileFooter[],
): readonly Finding[] {
  if (version.rows <= rowsMin) return []
  return [
    ...sortFindings(version, footers),
    ...overlapFindings(version),
    ...sizeFindings(version, footers),
  ]
}

/** How to improve the layout, and the gain if it was measured. */
export function packAdvice(
  { dataset, key }: Version,
  gain: PackGain | string | null,
): readonly Finding[] {
  const [first] = key
  if (!first) return []
  const command = `das dataset pack ${dataset}`
  if (gain === null) {
    return [finding('pack_advised', `\`${command}\` writes the layout with the fastest look-ups`)]
  }
  if (typeof gain === 'string') {
    return [finding('pack_advised', `\`${command}\` may help; measuring it failed: ${gain}`)]
  }
  const { nowMs, packedMs } = gain
  const verdict = packedMs < nowMs ? '' : ' would not help'
  const message =
    `\`${command}\`${verdict}: a look-up by ${first.name} takes ${milliseconds(nowMs)} here; ` +
    `packed ${milliseconds(packedMs)} (measured on a sample)`
  return [finding('pack_advised', message)]
}

function milliseconds(ms: number): string {
  return `${ms < 10 ? ms.toFixed(1).replace('.0', '') : Math.round(ms)} ms`
}

function sortFindings(version: Version, footers: readonly FileFooter[]): readonly Finding[] {
  const [first] = version.key
  if (!first) return []
  const findings: Finding[] = []
  const { files } = version
  const unsorted = files.filter((_, index) => (footers[index]?.unsortedRowGroups ?? 0) > 0)
  if (unsorted.length > 0) {
    const message =
      `${unsorted.length} of ${many(files.length, 'file')} not sorted by ` +
      `${quoted(first.name)} (first ${unsorted[0]?.name}): a look-up reads most of their rows`
    findings.push(finding('layout_unsorted', message))
  }
  const silent = files.filter((_, index) => (footers[index]?.silentRowGroups ?? 0) > 0)
  if (silent.length > 0) {
    const message =
      `${silent.length} of ${many(files.length, 'file')} without statistics of ` +
      `${quoted(first.name)} (first ${silent[0]?.name}): a look-up reads all of their rows`
    findings.push(finding('no_statistics', message))
  }
  return findings
}

function overlapFindings(version: Version): readonly Finding[] {
  const [first] = version.key
  if (!first) return []
  const most = filesPerLookUp(version, first.name)
  if (most <= filesPerLookUpMax) return []
  const message =
    `files overlap in ${quoted(first.name)}: a look-up opens up to ${most} of ` +
    `${version.files.length} files`
  return [finding('layout_overlap', message)]
}

/** The largest number of files that may have the same value. */
function filesPerLookUp({ files }: Version, key: string): number {
  const known = files.map(({ bounds }) => bounds.get(key))
  const ends = known.flatMap((bounds) =>
    bounds
      ? [
          { at: bounds.min, step: 1 },
          { at: bounds.max, step: -1 },
        ]
      : [],
  )
  // A file that ends with a value counts before one that begins with it is closed.
  ends.sort((left, right) => compare(left.at, right.at) || right.step - left.step)
  let [open, most] = [0, 0]
  for (const { step } of ends) {
    open += step
    most = Math.max(most, open)
  }
  return most + known.filter((bounds) => bounds === undefined).length
}

function compare(left: Bounds['min'], right: Bounds['min']): number {
  if (typeof left === 'string' && typeof right === 'string') return compareText(left, right)
  return left < right ? -1 : left > right ? 1 : 0
}

function sizeFindings(
  { files, rows }: Version,
  footers: readonly FileFooter[],
): readonly Finding[] {
  const rowGroups = footers.reduce((sum, footer) => sum + footer.rowGroups, 0)
  const average = Math.round(rows / Math.max(rowGroups, 1))
  const perFile = Math.round(rows / files.length)
  const findings: Finding[] = []
  if (average > rowGroupRowsMax) {
    const message = `row groups have ${average} rows on average: a look-up reads a whole one`
    findings.push(finding('row_groups_large', message))
  }
  if (files.length > smallFilesMin && perFile < smallFileRows) {
    const message = `${files.length} files have ${perFile} rows on average: opening them takes time`
    findings.push(finding('files_small', message))
  } else if (average < rowGroupRowsMin) {
    const message =
      `row groups have ${average} rows on average: ` +
      `every query reads the statistics of ${rowGroups} row groups`
    findings.push(finding('row_groups_small', message))
  }
  return findings
}
