import { EventEmitter } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'
import { replace } from './replace.js'
import type { Machine } from './machine.js'

type Method = (this: unknown, ...args: unknown[]) => unknown

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

/** Makes every file operation of this process a step of the machine. */
export async function hookFiles(machine: Machine): Promise<void> {
  const { promises } = fs
  for (const name of reads) wrap(promises, name, (work) => machine.hold(work))
  for (const name of changes) wrap(promises, name, change(machine, name))
  // Opened for reading, or followed by writes, which are steps.
  wrap(promises, 'open', async (work) => {
    const file = (await machine.hold(work)) as fs.promises.FileHandle
    machine.opened(file, () => void file.close().catch(() => undefined))
    return file
  })
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

function change(machine: Machine, name: string) {
  return (work: () => Promise<unknown>, [path]: unknown[]) => {
    machine.step('file', `${name} ${nameOf(path)}`)
    if (machine.isWatching && machine.isDiskFull && growing.includes(name)) throw full(name)
    return machine.hold(work)
  }
}

function wrapSync(machine: Machine, name: string): void {
  const real = Reflect.get(fs, name) as Method
  replace(fs, name, function wrapped(this: unknown, ...args: unknown[]) {
    machine.step('file', `${name} ${nameOf(args[0])}`)
    const isGrowing = growing.includes(name.replace('Sync', ''))
    if (machine.isWatching && machine.isDiskFull && isGrowing) throw full(name)
    return real.apply(this, args)
  })
}

/** The sync of the log of charges. */
function hookSync(machine: Machine): void {
  const real = fs.fdatasync
  replace(fs, 'fdatasync', (file: number, done: (cause: Error | null) => void) => {
    machine.step('file', 'fdatasync')
    const work = () =>
      new Promise<void>((resolve, reject) => {
        real(file, (cause) => (cause ? reject(cause) : resolve()))
      })
    machine.hold(work).then(() => done(null), done)
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
