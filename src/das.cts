#!/usr/bin/env node
// The launcher. A running query of DuckDB may hold a thread of Node's pool, so with the default of
// 4 threads a few slow queries would block every file, every DNS request and the syncs of charges.
// The pool reads its size from the environment at its first use, which is before the first line of
// an ES module: this file is CommonJS because of that. It is compiled so that old releases of
// Node.js can read it, and say that they are too old.

/** `engines` of package.json. */
const oldest = [22, 15] as const

/** The largest value of --query-slots, because the settings are not read yet. */
const querySlotsMax = 32
/** With one slot for each core: as many look-ups, as many other queries, half as many summaries. */
const queriesPerCore = 2.5
/** For files, DNS and syncs. */
const spareThreads = 4

function isTooOld(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1])
}

function enlargePool(): void {
  const { availableParallelism } = process.getBuiltinModule('node:os')
  const queries = Math.max(
    querySlotsMax,
    queriesPerCore * Math.min(availableParallelism(), querySlotsMax),
  )
  const threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? 0)
  process.env['UV_THREADPOOL_SIZE'] = String(
    Math.max(threads || 0, Math.ceil(queries) + spareThreads),
  )
}

if (isTooOld()) {
  console.error(
    `error: das needs Node.js ${oldest.join('.')} or newer, ` +
      `and this is ${process.versions.node}. Install a newer one; ` +
      'in a clone, "npm start" and "npx das" bring their own.',
  )
  process.exitCode = 1
} else {
  enlargePool()
  void import('./main.js')
}
