import { readFileSync } from 'node:fs'

/** Milliseconds that the event loop's thread has run: not those in which others had its core. */
export function threadMs(): number {
  return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e6
}
