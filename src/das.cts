#!/usr/bin/env node
// The launcher. DuckDB holds a thread of Node's pool for each query, so with the default of 4
// threads a few slow queries would block every file and DNS request. The pool reads its size from
// the environment at its first use, which is before the first line of an ES module: this file is
// CommonJS because of that.

/** The largest value of --query-slots, because the settings are not read yet. */
const querySlotsMax = 32
/** For files and DNS. */
const spareThreads = 4

const threads = Number(process.env['UV_THREADPOOL_SIZE'] ?? 0)
process.env['UV_THREADPOOL_SIZE'] = String(Math.max(threads || 0, querySlotsMax + spareThreads))

void import('./main.js')
