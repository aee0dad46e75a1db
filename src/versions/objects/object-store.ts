import type { Readable } from 'node:stream'

/** An object as its store lists it. */
export interface ListedObject {
  readonly key: string
  /** Changes with the content. */
  readonly etag: string
  readonly sizeBytes: number
}

/** The content of an object, which may be checked while it is read. */
interface ObjectContent {
  /** Fails if the content is not what the store has a checksum of. */
  readonly stream: Readable
  /** The MD5 of the content, in hexadecimal digits; null if the store does not tell it. */
  readonly md5: string | null
}

/** An object was replaced or removed between its listing and its reading. */
export class ObjectChanged extends Error {
  constructor(cause: unknown) {
    super('the object changed after it was listed', { cause })
    this.name = 'ObjectChanged'
  }
}

/** A store of objects in buckets. Every call ends with an error when the signal aborts. */
export interface ObjectStore {
  /** All objects whose keys begin with a prefix, by key. */
  readonly list: (
    bucket: string,
    prefix: string,
    signal: AbortSignal,
  ) => AsyncIterable<ListedObject>
  /** @throws ObjectChanged if the bucket has another content under this key now, or none */
  readonly read: (
    bucket: string,
    object: ListedObject,
    signal: AbortSignal,
  ) => Promise<ObjectContent>
}
