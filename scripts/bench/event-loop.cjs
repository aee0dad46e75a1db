// Loaded into the server before its own first line (`node --require`): it measures how late the
// event loop is, and tells whenever it is asked over the channel. CommonJS, since an ES module is
// loaded by way of the thread pool, whose size the server's launcher has yet to settle.
const { monitorEventLoopDelay } = require('node:perf_hooks')

/** A timer of so long is waited for, and is part of every delay that is recorded. */
const resolutionMs = 10
const histogram = monitorEventLoopDelay({ resolution: resolutionMs })
histogram.enable()

process.on('message', (message) => {
  const ms = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolutionMs)
  if (message === 'begin') histogram.reset()
  if (message === 'end') {
    process.send({ p99Ms: ms(histogram.percentile(99)), maxMs: ms(histogram.max) })
  }
})
// The channel alone keeps nobody alive.
process.channel?.unref()
