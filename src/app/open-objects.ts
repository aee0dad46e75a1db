import { objectsFolderOf } from '../catalog.js'
import type { Config } from '../config.js'
import { ObjectFiles } from '../versions/objects/object-files.js'
import type { ObjectFilesOptions } from '../versions/objects/object-files.js'
import { s3Store } from '../versions/objects/s3-store.js'

/** The settings of object storage. */
export type ObjectsConfig = Pick<Config, 'state' | 'objectEndpoint' | 'objectRegion'>

/** Files in object storage, which are kept in the state folder. */
export function openObjects(
  { state, objectEndpoint: endpoint, objectRegion: region }: ObjectsConfig,
  options: Omit<ObjectFilesOptions, 'folder' | 'store'>,
): ObjectFiles {
  const store = s3Store({ endpoint, region })
  return new ObjectFiles({ ...options, folder: objectsFolderOf(state), store })
}
