import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import timers from 'node:timers/promises'
import type { Machine } from './machine.js'

/**
 * Gives the machine's clock and random numbers to everything in this process, also to libraries
 * that have no part for them. One core: the engine works in one order.
 */
export function hookTime(machine: Machine): void {
  Date.now = () => machine.clock.now()
  performance.now = () => machine.clock.monotonicMs()
  replace(globalThis, 'setTimeout', (run: Run, ms = 0, ...args: unknown[]) =>
    timerOf(machine.clock.after(ms, () => run(...args))),
  )
  replace(globalThis, 'setInterval', (run: Run, ms = 0, ...args: unknown[]) =>
    timerOf(machine.clock.every(ms, () => run(...args))),
  )
  replace(globalThis, 'clearTimeout', clear)
  replace(globalThis, 'clearInterval', clear)
  replace(timers, 'setTimeout', async (ms = 0, value: unknown, options?: { signal?: AbortSignal }) => {
    await machine.clock.sleep(ms, options?.signal)
    return value
  })
  const below = (limit: number) => machine.random.whole(0, limit - 1)
  const bytes = (count: number) => Buffer.from(Array.from({ length: count }, () => below(256)))
  replace(crypto, 'randomBytes', bytes)
  replace(crypto, 'randomInt', (min: number, max?: number) =>
    max === undefined ? below(min) : min + below(max - min),
  )
  replace(crypto, 'randomUUID', () => uuidOf(bytes(16)))
  Math.random = () => below(2 ** 32) / 2 ** 32
  replace(os, 'availableParallelism', () => 1)
  syncBuiltinESMExports()
}

type Run = (...args: unknown[]) => void

interface SimulatedTimer {
  readonly cancel: () => void
  readonly ref: () => SimulatedTimer
  readonly unref: () => SimulatedTimer
  readonly hasRef: () => boolean
  readonly [Symbol.dispose]: () => void
}

function timerOf(cancel: () => void): SimulatedTimer {
  const timer: SimulatedTimer = {
    cancel,
    ref: () => timer,
    unref: () => timer,
    hasRef: () => false,
    [Symbol.dispose]: cancel,
  }
  return timer
}

function clear(timer: SimulatedTimer | undefined | null): void {
  timer?.cancel?.()
}

function uuidOf(bytes: Buffer): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)]
  return `${parts.join('-')}-${hex.slice(20)}`
}

/** Replaces a member whose type the caller knows. */
export function replace(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, configurable: true, writable: true, enumerable: true })
}
