import picomatch from 'picomatch'
import { isTaken } from '../files/list-matches.js'
import { FileError } from '../opener.js'

/** Objects of a bucket that a registry's pattern names. */
export interface ObjectPattern {
  readonly bucket: string
  /** The letters of the keys before the first special one: all that a bucket can search by. */
  readonly prefix: string
  readonly matches: (key: string) => boolean
}

const scheme = 's3://'
/** The rules of S3 for names, without the rarer ones that the server itself checks. */
const bucketName = /^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/
const bucketAndRest = /^s3:\/\/([^/]*)(?:\/([^]*))?$/
/** Letters that may begin a part of a glob. */
const special = /[*?[\]{}()!+@|\\]/

/** Whether files of the registry are objects (`s3://bucket/key`) and not on a disk. */
export function isObjectUrl(text: string): boolean {
  return text.startsWith(scheme)
}

/** The address of an object, as registries and messages write it. */
export function objectUrl(bucket: string, key: string): string {
  return `${scheme}${bucket}/${key}`
}

/**
 * Reads `s3://bucket/key`, where the key may be a glob as a path may be one. A key that has the
 * exact letters of a pattern matches too.
 * @throws FileError with the pattern, for one that names no bucket or no key
 */
export function parseObjectPattern(pattern: string): ObjectPattern {
  const [, bucket = '', glob = ''] = bucketAndRest.exec(pattern) ?? []
  if (!bucketName.test(bucket)) throw new FileError(pattern, 'names no bucket: s3://bucket/key')
  if (glob === '') throw new FileError(pattern, 'names no object: add /*.parquet')
  if (glob.endsWith('/')) throw new FileError(pattern, 'is a folder: add *.parquet')
  const end = glob.search(special)
  const prefix = end < 0 ? glob : glob.slice(0, end)
  const isMatch = picomatch(glob, { nonegate: true })
  const own = prefix.lastIndexOf('/') + 1
  return {
    bucket,
    prefix,
    // Consoles of stores make a folder as an empty object whose key ends like this.
    matches: (key) =>
      key === glob || (!key.endsWith('/') && isTaken(key.slice(own)) && isMatch(key)),
  }
}
