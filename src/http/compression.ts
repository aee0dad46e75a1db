import { Readable, pipeline } from 'node:stream'
import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  zstdCompress,
} from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readPreferences } from './accept.js'
import { varyBy } from './vary.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False for a route that sends its answers uncompressed. */
    readonly isCompressed?: false
  }
}

/** Files that never change are compressed once, and take their time. */
type Effort = 'quick' | 'once'

interface Coding {
  readonly whole: (body: string | Buffer, effort: Effort) => Promise<Buffer>
  /** Flushes after each piece, so the client can decode it at once. */
  readonly pieces: () => Transform
}

/**
 * zlib's own threads compress the largest page to a quarter in about 7 ms with zstd, 15 with Brotli
 * and 20 with gzip. Node.js 22 frees compressors of zstd late, and at level 3 they are three times
 * as large.
 */
const levels = {
  quick: {
    zstd: { params: { [constants.ZSTD_c_compressionLevel]: 1 } },
    brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } },
    gzip: { level: 3 },
  },
  once: {
    zstd: { params: { [constants.ZSTD_c_compressionLevel]: 12 } },
    brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } },
    gzip: { level: 9 },
  },
} as const satisfies Record<Effort, object>
const { zstd, brotli, gzip: deflate } = levels.quick
/** A stream requests its next piece only after it has compressed the earlier ones. */
const oneByOne = { writableHighWaterMark: 0 }

/** Best first: for rows zstd is the smallest and the fastest. */
const codings = {
  zstd: {
    whole: (body, effort) => promisify(zstdCompress)(body, levels[effort].zstd),
    pieces: () => createZstdCompress({ ...oneByOne, ...zstd, flush: constants.ZSTD_e_flush }),
  },
  br: {
    whole: (body, effort) => promisify(brotliCompress)(body, levels[effort].brotli),
    pieces: () =>
      createBrotliCompress({ ...oneByOne, ...brotli, flush: constants.BROTLI_OPERATION_FLUSH }),
  },
  gzip: {
    whole: (body, effort) => promisify(gzip)(body, levels[effort].gzip),
    pieces: () => createGzip({ ...oneByOne, ...deflate, flush: constants.Z_SYNC_FLUSH }),
  },
} as const satisfies Readonly<Record<string, Coding>>

type CodingName = keyof typeof codings

const bodyBytesMin = 1024

/** Text types; Parquet and images are already compressed. */
const textTypes = /^(?:text\/(?!event-stream)|image\/svg\+xml|application\/\S*(?:json|javascript))/

/**
 * Compresses text in the client's preferred coding. Entity tags become weak: a strong tag promises
 * identical bytes, but the bytes now depend on `Accept-Encoding`.
 *
 * `@fastify/compress` is not used: it takes a text that begins with "80" or "H," for deflated data
 * and sends it unchanged, labelled as compressed.
 */
export function addCompression(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.routeOptions.config.isCompressed === false) return done(null, payload)
    varyBy(reply, 'Accept-Encoding')
    weakenTag(reply)
    if (!isWorthwhile(payload)) return done(null, payload)
    const name = codingOf(request, reply)
    if (name === null) return done(null, payload)
    void reply.header('Content-Encoding', name).removeHeader('Content-Length')
    if (payload instanceof Readable) return done(null, inPieces(payload, name))
    const isKept = /immutable/.test(String(reply.getHeader('Cache-Control')))
    compressed(payload, name, isKept ? 'once' : 'quick').then((body) => done(null, body), done)
  })
}

function inPieces(payload: Readable, name: CodingName): Readable {
  return pipeline(payload, codings[name].pieces(), () => {
    // An error in one stream destroys the other, where Fastify handles it.
  })
}

/** Caches the compressed forms of bodies that never change, such as files. */
const known = new WeakMap<Buffer, Map<CodingName, Promise<Buffer>>>()

function compressed(body: string | Buffer, name: CodingName, effort: Effort): Promise<Buffer> {
  if (typeof body === 'string') return codings[name].whole(body, effort)
  const forms = known.get(body) ?? new Map<CodingName, Promise<Buffer>>()
  known.set(body, forms)
  const form = forms.get(name) ?? codings[name].whole(body, effort)
  forms.set(name, form)
  return form
}

function weakenTag(reply: FastifyReply): void {
  const tag = reply.getHeader('ETag')
  if (typeof tag === 'string' && tag.startsWith('"')) void reply.header('ETag', `W/${tag}`)
}

/** Null if the answer is sent uncompressed. */
function codingOf(request: FastifyRequest, reply: FastifyReply): CodingName | null {
  if (request.method === 'HEAD' || reply.statusCode === 206) return null
  if (reply.hasHeader('Content-Encoding')) return null
  if (!textTypes.test(String(reply.getHeader('Content-Type') ?? ''))) return null
  return likedCoding(request.headers['accept-encoding'])
}

/** The client's preferred coding; the server's order breaks ties. */
function likedCoding(header: string | string[] | undefined): CodingName | null {
  const listed = new Map(
    readPreferences(String(header ?? '')).map(({ name, quality }) => [name, quality]),
  )
  const [best] = (Object.keys(codings) as CodingName[])
    .map((name) => ({ name, quality: listed.get(name) ?? listed.get('*') ?? 0 }))
    .sort((one, other) => other.quality - one.quality)
  const least = listed.get('identity') ?? 0
  return best && best.quality > 0 && best.quality >= least ? best.name : null
}

function isWorthwhile(payload: unknown): payload is string | Buffer | Readable {
  if (payload instanceof Readable) return true
  const isText = typeof payload === 'string' || Buffer.isBuffer(payload)
  return isText && Buffer.byteLength(payload) >= bodyBytesMin
}
