import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { CreateBucketCommand, DeleteObjectCommand, GetObjectCommand } from '@aws-sdk/client-s3'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { eventually } from './fault.js'
import { freePort } from './process.js'
import type { Cleanup } from './script.js'

/** A server of the S3 protocol over a folder: https://github.com/versity/versitygw */
const gatewayModule = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0'
const binFolder = resolve('node_modules/.cache/versitygw-1.8.0')
const login = { accessKeyId: 'test', secretAccessKey: 'test-secret' }
const startMsMax = 60_000

/** A bucket of a real server, behind a line that a test can cut. */
export interface Bucket {
  /** The address for `AWS_ENDPOINT_URL_S3`. */
  readonly endpoint: string
  readonly put: (key: string, body: Uint8Array) => Promise<void>
  readonly get: (key: string) => Promise<Buffer>
  readonly remove: (key: string) => Promise<void>
  /** Cuts every connection now, and each new one after this many bytes of answers; null = never. */
  readonly cutAfter: (bytes: number | null) => void
  /** Bytes of answers so far. */
  readonly sentBytes: () => number
}

/** What ends with a script or a test. */
type Endings = Pick<Cleanup, 'add'>

/** Starts the gateway with one bucket, `data`, and gives this process its address and login. */
export async function startBucket(endings: Endings): Promise<Bucket> {
  const gateway = await startGateway(endings)
  const line = await startLine(endings, gateway)
  const endpoint = `http://127.0.0.1:${line.port}`
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_ACCESS_KEY_ID: login.accessKeyId,
    AWS_SECRET_ACCESS_KEY: login.secretAccessKey,
  })
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${gateway}`,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: login,
  })
  endings.add(async () => client.destroy())
  await client.send(new CreateBucketCommand({ Bucket: 'data' }))
  return {
    endpoint,
    put: async (key, body) => {
      await client.send(new PutObjectCommand({ Bucket: 'data', Key: key, Body: body }))
    },
    get: async (key) => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: 'data', Key: key }))
      return Buffer.from((await Body?.transformToByteArray()) ?? [])
    },
    remove: async (key) => {
      await client.send(new DeleteObjectCommand({ Bucket: 'data', Key: key }))
    },
    cutAfter: line.cutAfter,
    sentBytes: line.sentBytes,
  }
}

async function startGateway(endings: Endings): Promise<number> {
  const program = join(binFolder, 'versitygw')
  if (!existsSync(program)) {
    // Three minutes on two cores, once.
    const env = { ...process.env, GOBIN: binFolder }
    await promisify(execFile)('go', ['install', gatewayModule], { env })
  }
  const root = mkdtempSync(join(tmpdir(), 'das-objects-'))
  const port = await freePort()
  const given = ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', root]
  const child = spawn(program, given, {
    env: { ROOT_ACCESS_KEY: login.accessKeyId, ROOT_SECRET_KEY: login.secretAccessKey },
    stdio: 'ignore',
  })
  endings.add(async () => {
    child.kill('SIGKILL')
    rmSync(root, { recursive: true, force: true })
  })
  await eventually('versitygw listens', { withinMs: startMsMax, everyMs: 100 }, async () => {
    if (child.exitCode !== null) throw new Error(`versitygw ended: ${child.exitCode}`)
    const socket = connect(port, '127.0.0.1')
    const isListening = await once(socket, 'connect').then(
      () => true as const,
      () => undefined,
    )
    socket.destroy()
    return isListening
  })
  return port
}

/** Passes connections on to a port. */
async function startLine(endings: Endings, to: number) {
  let limit: number | null = null
  let sent = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const gateway = connect(to, '127.0.0.1')
    let own = 0
    for (const socket of [client, gateway]) {
      sockets.add(socket)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        gateway.destroy()
      })
      socket.on('error', () => socket.destroy())
    }
    client.pipe(gateway)
    gateway.on('data', (chunk: Buffer) => {
      const left = limit === null ? chunk.length : Math.max(0, limit - own)
      own += chunk.length
      sent += Math.min(left, chunk.length)
      client.write(chunk.subarray(0, left))
      if (left < chunk.length) client.end(() => client.destroy())
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  endings.add(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    sentBytes: () => sent,
    cutAfter: (bytes: number | null) => {
      limit = bytes
      for (const socket of sockets) socket.destroy()
    },
  }
}
