import { closeSync, openSync, readSync, statSync, utimesSync, writeSync } from 'node:fs'

/** A time of writing that can be restored exactly: it has no part of a second. */
const wholeSecond = 1_700_000_000

/** Gives a file a time of writing that `rot` restores. */
export function age(path: string): void {
  utimesSync(path, wholeSecond, wholeSecond)
}

/** Flips one bit at a share of the file's length and restores its times, as rot leaves them. */
export function rot(path: string, share: number): void {
  const { size, mtime, atime } = statSync(path)
  overwrite(path, [Math.floor(size * share)], (byte) => byte ^ 0x10)
  utimesSync(path, atime, mtime)
}

/** Overwrites 40 bytes in every 15 kB and restores the file's times. */
export function rotGrossly(path: string): void {
  const { size, mtime, atime } = statSync(path)
  const places = Array.from(
    { length: Math.ceil(size / 15_000) },
    (_, index) => 100 + 15_000 * index,
  )
  const bytes = places.flatMap((place) => Array.from({ length: 40 }, (_, index) => place + index))
  overwrite(path, bytes, () => 0xaa)
  utimesSync(path, atime, mtime)
}

function overwrite(path: string, offsets: readonly number[], change: (byte: number) => number) {
  const file = openSync(path, 'r+')
  const byte = Buffer.alloc(1)
  for (const offset of offsets) {
    if (readSync(file, byte, 0, 1, offset) === 0) continue
    byte[0] = change(byte[0] ?? 0)
    writeSync(file, byte, 0, 1, offset)
  }
  closeSync(file)
}
