import { Readable } from 'node:stream'
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3'
import { ObjectChanged } from './object-store.js'
import type { ListedObject, ObjectStore } from './object-store.js'

/** Where the store is. */
export interface S3Place {
  /** Null = Amazon's. */
  readonly endpoint: string | null
  /** Null = what the client finds by itself. */
  readonly region: string | null
}

const connectMs = 5000
/** The longest silence of a store. */
const silenceMs = 30_000
const attemptsMax = 3
const defaultRegion = 'us-east-1'

/**
 * A store that speaks the S3 protocol; the client finds the login by itself. Buckets of a store
 * other than Amazon's are part of the path, which every such store understands. The package is
 * loaded when it is first needed.
 */
export function s3Store({ endpoint, region }: S3Place): ObjectStore {
  const other = endpoint !== null && { endpoint, forcePathStyle: true, region: defaultRegion }
  const load = async () => {
    const sdk = await import('@aws-sdk/client-s3')
    const client = new sdk.S3Client({
      maxAttempts: attemptsMax,
      requestHandler: { connectionTimeout: connectMs, socketTimeout: silenceMs },
      logger: silent,
      ...other,
      ...(region !== null && { region }),
    })
    return { sdk, client }
  }
  let loading: ReturnType<typeof load> | undefined
  const loaded = () => (loading ??= load())
  return {
    list: async function* (bucket, prefix, abortSignal) {
      const { sdk, client } = await loaded()
      const input = { Bucket: bucket, Prefix: prefix }
      let token: string | undefined
      do {
        const next = token === undefined ? {} : { ContinuationToken: token }
        const command = new sdk.ListObjectsV2Command({ ...input, ...next })
        const page = await client.send(command, { abortSignal })
        for (const { Key: key, ETag: etag, Size: sizeBytes } of page.Contents ?? []) {
          if (key === undefined || etag === undefined || sizeBytes === undefined) continue
          yield { key, etag, sizeBytes }
        }
        token = page.IsTruncated ? page.NextContinuationToken : undefined
      } while (token !== undefined)
    },
    read: async (bucket, object, signal) => {
      const { sdk, client } = await loaded()
      const command = new sdk.GetObjectCommand({
        Bucket: bucket,
        Key: object.key,
        IfMatch: object.etag,
        ChecksumMode: 'ENABLED',
      })
      const answer = await client.send(command, { abortSignal: signal }).catch(orChanged)
      return contentOf(answer, object)
    },
  }
}

/** Without it, the client writes to the console when a stream breaks; errors say it too. */
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }

function nothing(): void {}

/** @throws ObjectChanged where the store has another content or none, else the error itself */
function orChanged(cause: unknown): never {
  const status = (cause as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
  throw status === 412 || status === 404 ? new ObjectChanged(cause) : cause
}

function contentOf(answer: GetObjectCommandOutput, { key, etag }: ListedObject) {
  if (!(answer.Body instanceof Readable)) throw new Error(`${key} has no content`)
  // A line may break before the first read, which then fails; nothing else listens until then.
  answer.Body.on('error', () => undefined)
  // Only objects that were written in one part and are not encrypted by a key of the caller's.
  const isMd5 =
    answer.ServerSideEncryption === undefined || answer.ServerSideEncryption === 'AES256'
  const [, md5 = null] = (isMd5 && /^"([\da-f]{32})"$/.exec(etag)) || []
  return { stream: answer.Body, md5 }
}
