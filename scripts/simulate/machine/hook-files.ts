import { EventEmitter } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'
import { replace } from './replace.js'
import type { Machine } from './machine.js'

type Method = (this: unknown, ...args: unknown[]) => unknown
type Work = () => Promise<unknown>

/** Reads: no kill comes before them, because the kill before the next change says as much. */
const reads = ['access', 'stat', 'lstat', 'readdir', 'readFile', 'realpath', 'readlink', 'statfs']
const changes = [
  ...['writeFile', 'appendFile', 'mkdir', 'mkdtemp', 'rm', 'rmdir', 'rename', 'unlink', 'link'],
  ...['symlink', 'copyFile', 'chmod', 'chown', 'utimes', 'truncate'],
]
/** What a full disk refuses. */
const growing = ['writeFile', 'appendFile', 'mkdir', 'mkdtemp', 'copyFile', 'write', 'link']
const syncChanges = [
  ...['writeFileSync', 'mkdirSync', 'mkdtempSync', 'rmSync', 'renameSync', 'unlinkSync'],
  ...['linkSync', 'symlinkSync', 'copyFileSync', 'writeSync', 'fsyncSync', 'fdatasyncSync'],
]

/** The synchronous functions, before they are steps. */
const realSync = new Map(
  Object.entries(fs).filter(
    (entry): entry is [string, Method] =>
      entry[0].endsWith('Sync') && typeof entry[1] === 'function',
  ),
)
/** No power cut is simulated: what was written is there. */
const syncs = ['sync', 'datasync', 'fsyncSync', 'fdatasyncSync']

/** Makes every file operation of this process a step of the machine. */
export async function hookFiles(machine: Machine): Promise<void> {
  const { promises } = fs
  for (const name of reads) {
    wrap(promises, name, (work, args) => machine.hold(atOnce(name, work, args)))
  }
  for (const name of changes) {
    const around = change(machine, name)
    wrap(promises, name, (work, args) => around(atOnce(name, work, args), args))
  }
  // Opened for reading, or followed by writes, which are steps.
  wrap(promises, 'open', (work) =>
    machine.hold(async () => {
      const file = (await work()) as fs.promises.FileHandle
      machine.opened(file, () => {
        file.close().catch(() => undefined)
      })
      return file
    }),
  )
  const file = await promises.open('/dev/null')
  const handle = Object.getPrototypeOf(file) as object
  await file.close()
  wrap(handle, 'close', (work, _, on) => {
    machine.closed(on)
    return machine.hold(work)
  })
  for (const name of ['read', 'readFile', 'stat']) {
    wrap(handle, name, (work) => machine.hold(work))
  }
  for (const name of ['write', 'writeFile', 'appendFile', 'truncate', 'sync', 'datasync']) {
    wrap(handle, name, change(machine, name))
  }
  for (const name of syncChanges) wrapSync(machine, name)
  hookSync(machine)
  replace(fs, 'watch', () => Object.assign(new EventEmitter(), { close: () => undefined }))
  syncBuiltinESMExports()
}

/** The same without a thread, which would have to be waited for. */
function atOnce(name: string, work: Work, args: unknown[]): Work {
  const real = realSync.get(`${name}Sync`)
  return real ? async () => real.apply(fs, args) : work
}

function change(machine: Machine, name: string) {
  return (work: Work, [path, content]: unknown[]) => {
    try {
      machine.step('file', () => `${name} ${nameOf(path)}`)
    } catch (cause) {
      if (name === 'writeFile') tear(machine, path, content)
      throw cause
    }
    if (machine.isWatching && machine.isDiskFull && growing.includes(name)) throw full(name)
    return machine.hold(syncs.includes(name) ? async () => undefined : work)
  }
}

/** A kill in the middle of a write leaves its first half. */
function tear(machine: Machine, path: unknown, content: unknown): void {
  if (machine.isTorn || typeof path !== 'string') return
  machine.isTorn = true
  const bytes = Buffer.from(content as string | Uint8Array)
  machine.aside(() => {
    fs.writeFileSync(path, bytes.subarray(0, bytes.length / 2))
  })
}

function wrapSync(machine: Machine, name: string): void {
  const real = Reflect.get(fs, name) as Method
  replace(fs, name, function wrapped(this: unknown, ...args: unknown[]) {
    machine.step('file', () => `${name} ${nameOf(args[0])}`)
    const isGrowing = growing.includes(name.replace('Sync', ''))
    if (machine.isWatching && machine.isDiskFull && isGrowing) throw full(name)
    return machine.isWatching && syncs.includes(name) ? undefined : real.apply(this, args)
  })
}

/** The sync of the log of charges. */
function hookSync(machine: Machine): void {
  replace(fs, 'fdatasync', (_file: number, done: (cause: Error | null) => void) => {
    machine.step('file', () => 'fdatasync')
    machine.hold(async () => undefined).then(() => done(null), done)
  })
}

function wrap(
  owner: object,
  name: string,
  around: (work: () => Promise<unknown>, args: unknown[], on: object) => Promise<unknown>,
): void {
  const real = Reflect.get(owner, name) as (...args: unknown[]) => Promise<unknown>
  replace(owner, name, async function wrapped(this: unknown, ...args: unknown[]) {
    return await around(() => real.apply(this, args), args, this as object)
  })
}

function full(name: string): Error {
  return Object.assign(new Error(`ENOSPC: no space left on device, ${name}`), { code: 'ENOSPC' })
}

/** Names of files that are the same in each run. */
function nameOf(path: unknown): string {
  return typeof path === 'string' ? basename(path).replace(/[0-9a-f]{8,}/g, '…') : ''
}
