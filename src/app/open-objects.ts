import { objectsFolderOf } from '../catalog.js'
import type { Clock } from '../clock.js'
import type { Config } from '../config.js'
import { ObjectFiles } from '../versions/objects/object-files.js'
import type { ObjectFilesOptions } from '../versions/objects/object-files.js'
import type { ObjectStore } from '../versions/objects/object-store.js'
import { s3Store } from '../versions/objects/s3-store.js'

/** The settings of object storage. */
export type ObjectsConfig = Pick<Config, 'state' | 'objectEndpoint' | 'objectRegion'>

/** The object storage of the settings. */
export function objectStoreOf(
  {
    objectEndpoint: endpoint,
    objectRegion: region,
  }: Pick<ObjectsConfig, 'objectEndpoint' | 'objectRegion'>,
  clock: Clock,
): ObjectStore {
  return s3Store({ endpoint, region }, clock)
}

/** Files in object storage, which are kept in the state folder. */
export function openObjects(
  config: ObjectsConfig,
  options: Omit<ObjectFilesOptions, 'folder' | 'store'>,
): ObjectFiles {
  const folder = objectsFolderOf(config.state)
  return new ObjectFiles({ ...options, folder, store: objectStoreOf(config, options.clock) })
}
