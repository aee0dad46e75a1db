#!/usr/bin/env node
// The launcher, and the one CommonJS file of the house. Node's thread pool takes its size from the
// environment at its first use, and DuckDB holds one of its threads for the whole of each query, so
// with the default of 4 a few slow queries would block every file and name look-up. An ES module is
// itself loaded by way of the pool: by its first line the size is settled. Hence this file.

/** The largest value of --query-slots; the settings can't be read yet. */
const querySlotsMax = 32
/** For files, DNS and the command line's own needs. */
const spareThreads = 4

const threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? 0)
process.env['UV_THREADPOOL_SIZE'] = String(Math.max(threads || 0, querySlotsMax + spareThreads))

void import('./main.js')
