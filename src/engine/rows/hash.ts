/** Two independent halves of a 64-bit hash. */
export interface Hash {
  high: number
  low: number
}

const seeds = [0x9747b28c, 0x3c6ef372] as const

/** Hashes bytes from `from` up to but not including `to` into `hash`. */
export function hashBytes(bytes: Uint8Array, from: number, to: number, hash: Hash): void {
  hash.high = murmur(bytes, from, to, seeds[0])
  hash.low = murmur(bytes, from, to, seeds[1])
}

/** MurmurHash3 for x86, 32 bits (Austin Appleby, public domain). */
function murmur(bytes: Uint8Array, from: number, to: number, seed: number): number {
  let sum = seed
  let at = from
  for (; at + 4 <= to; at += 4) {
    const word =
      (bytes[at] ?? 0) |
      ((bytes[at + 1] ?? 0) << 8) |
      ((bytes[at + 2] ?? 0) << 16) |
      ((bytes[at + 3] ?? 0) << 24)
    sum ^= scrambled(word)
    sum = Math.imul((sum << 13) | (sum >>> 19), 5) + 0xe6546b64
  }
  let rest = 0
  for (let last = to - 1; last >= at; last -= 1) rest = (rest << 8) | (bytes[last] ?? 0)
  if (at < to) sum ^= scrambled(rest)
  sum ^= to - from
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  sum = Math.imul(sum ^ (sum >>> 13), 0xc2b2ae35)
  return (sum ^ (sum >>> 16)) >>> 0
}

function scrambled(word: number): number {
  const product = Math.imul(word, 0xcc9e2d51)
  return Math.imul((product << 15) | (product >>> 17), 0x1b873593)
}
