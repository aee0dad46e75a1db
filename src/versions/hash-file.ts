import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { machineClock } from '../clock.js'

/**
 * The SHA-256 of a file's content, in hexadecimal digits, read at a bounded speed.
 * @throws the system's error for a file that can't be read
 */
export type HashFile = (path: string, bytesPerSecondMax?: number) => Promise<string>

const readBytesMax = 1024 * 1024

/** Hashes on this thread, in pieces. A server does this on a thread of its own. */
export const hashFile: HashFile = async (path, bytesPerSecondMax = Infinity) => {
  // Does not wait for a pipe that has replaced the file.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(readBytesMax)
  const start = machineClock.monotonicMs()
  let position = 0
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
    if (bytesRead === 0) return hash.digest('hex')
    hash.update(buffer.subarray(0, bytesRead))
    position += bytesRead
    const earlyMs = (1000 * position) / bytesPerSecondMax - (machineClock.monotonicMs() - start)
    if (earlyMs > 1) await machineClock.sleep(earlyMs)
  }
}
