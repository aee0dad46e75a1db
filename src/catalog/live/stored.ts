import type { StoredVersions } from '../../versions/disk-space.js'
import { allFiles } from '../../versions/version.js'
import type { StoredFile } from '../../versions/version.js'
import type { LiveSource } from './live-source.js'

/** The served files of datasets, those of superseded versions last, the newest first. */
export function servedFiles(datasets: readonly LiveSource[]): readonly StoredFile[] {
  const served = datasets.flatMap(({ dataset }) => (dataset.version ? [dataset.version] : []))
  const earlier = datasets.flatMap(({ stored }) =>
    stored.earlier.map(({ version }) => version).reverse(),
  )
  return [...served, ...earlier].flatMap(allFiles)
}

/** The versions of datasets, for the disk limit; calls `dropped` when an earlier version goes. */
export function storedVersions(sources: Iterable<LiveSource>, dropped: () => void): StoredVersions {
  const datasets = [...sources]
  const folders = new Set(datasets.flatMap(({ stored }) => stored.folders))
  const earlier = datasets.flatMap((dataset) =>
    dataset.stored.earlier.map(({ version, folders, supersededAt }) => {
      const remove = () => {
        dataset.drop(version)
        dropped()
      }
      return { dataset: version.dataset, version: version.id, folders, supersededAt, remove }
    }),
  )
  return { folders, earlier }
}
