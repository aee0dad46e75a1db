#!/usr/bin/env node
// The launcher. A running query of DuckDB may hold a thread of Node's pool, so with the default of
// 4 threads a few slow queries would block every file, every DNS request and the syncs of charges.
// The pool reads its size from the environment at its first use, which is before the first line of
// an ES module: this file is CommonJS because of that.

/** The largest value of --query-slots, because the settings are not read yet. */
const querySlotsMax = 32
/** As many look-ups, as many other queries, and half as many summaries. */
const queriesPerSlot = 2.5
/** For files and DNS. */
const spareThreads = 4

const threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? 0)
const threadsMin = queriesPerSlot * querySlotsMax + spareThreads
process.env['UV_THREADPOOL_SIZE'] = String(Math.max(threads || 0, threadsMin))

void import('./main.js')
