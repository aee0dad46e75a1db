import type { FetchProgress, ObjectSource } from '../versions/objects/object-files.js'
import { diskSpaceOf } from '../catalog.js'
import type { DiskSpace } from '../versions/disk-space.js'
import { readSettings } from './command.js'
import type { CliParts } from './parts.js'
import { progressReport } from './progress-bar.js'

const bytesOfMegabyte = 1e6

/** The objects of a command, which waits for them and shows how far they are; not if `isSilent`. */
export function commandObjects(parts: CliParts, state: string, isSilent: boolean): ObjectSource {
  const { report: show, end } = progressReport(parts, isSilent)
  const megabytes = (bytes: number) => Math.round(bytes / bytesOfMegabyte)
  const report = ({ pattern, bytes, bytesDone }: FetchProgress) => {
    const done = { rowsDone: megabytes(bytesDone), rows: megabytes(bytes), unit: 'MB' as const }
    show({ what: `fetching ${pattern}`, ...done })
    if (bytesDone === bytes) end()
  }
  const config = readSettings(['objectEndpoint', 'objectRegion'], {}, parts.environment)
  const { clock, random } = parts
  const space = commandSpace(parts, state)
  const options = { space, waitMaxMs: Infinity, report, clock, random }
  return parts.openObjects({ ...config, state }, options)
}

/** What a command may write into the state folder: as much as its server. */
export function commandSpace({ environment }: CliParts, state: string): DiskSpace {
  return diskSpaceOf(state, readSettings(['diskLimit'], {}, environment).diskLimit)
}
