// Loaded into the server before its own first line (`node --require`): it measures how late the
// event loop is, and reports that over the channel. CommonJS, because an ES module is loaded through
// the thread pool, whose size the server's launcher sets later.
const { monitorEventLoopDelay } = require('node:perf_hooks')

/** The timer's own length, which every recorded delay includes. */
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
// The channel alone does not keep the process alive.
process.channel?.unref()
