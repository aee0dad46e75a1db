// Loaded into the server before its own first line (`node --require`): it measures the parts of
// each request where the server calls Node, SQLite and DuckDB, so the product holds no clocks.
// CommonJS, because an ES module is loaded through the thread pool, whose size the server's
// launcher sets later.
const { AsyncLocalStorage } = require('node:async_hooks')
const fs = require('node:fs')
const http = require('node:http')
const { Session } = require('node:inspector/promises')
const { createRequire, syncBuiltinESMExports } = require('node:module')
const Database = require('better-sqlite3')

const requests = new AsyncLocalStorage()
const poolTrips = 200
const profileEveryMicroseconds = 100
/** Null = the parts are not measured. */
let finished = null
let begun = null
let profiler = null

/** Counts the time since the request's last mark as this part. */
function mark(part) {
  const request = finished && requests.getStore()
  if (!request) return
  const now = performance.now()
  request.parts[part] = (request.parts[part] ?? 0) + now - request.last
  request.last = now
}

const { emit } = http.Server.prototype
http.Server.prototype.emit = function (event, ...values) {
  if (event !== 'request' || !finished) return emit.call(this, event, ...values)
  const now = performance.now()
  const request = { parts: {}, begun: now, last: now }
  return requests.run(request, () => {
    // The log line is written at `finish`, by a listener that was added later.
    values[1].once('finish', () =>
      setImmediate(() => {
        mark('log')
        finished?.push({ ...request.parts, total: request.sent - request.begun })
      }),
    )
    return emit.call(this, event, ...values)
  })
}

const { end, writeHead } = http.ServerResponse.prototype
http.ServerResponse.prototype.writeHead = function (...values) {
  mark('answer')
  return writeHead.apply(this, values)
}
http.ServerResponse.prototype.end = function (...values) {
  const result = end.apply(this, values)
  mark('write')
  const request = finished && requests.getStore()
  if (request) request.sent = request.last
  return result
}

const memory = new Database(':memory:')
const statement = Object.getPrototypeOf(memory.prepare('SELECT 1'))
for (const name of ['all', 'get', 'run']) {
  const original = statement[name]
  statement[name] = function (...values) {
    // A charge is one part, whatever its statements are.
    if (!finished || this.database.inTransaction) return original.apply(this, values)
    const isToken = this.source.includes('FROM tokens')
    mark(isToken ? 'accept' : 'rate')
    const result = original.apply(this, values)
    mark(isToken ? 'token' : 'usage')
    return result
  }
}
memory.close()

const { transaction } = Database.prototype
Database.prototype.transaction = function (work) {
  const made = transaction.call(this, work)
  const immediate = (...values) => {
    mark('rows')
    const result = made.immediate(...values)
    mark('charge')
    return result
  }
  // The product starts every transaction with this method.
  return { immediate }
}

// The binding's own functions can't be replaced: the package gets a copy of it.
const ofPackage = createRequire(require.resolve('@duckdb/node-api'))
const bindingPath = ofPackage.resolve('@duckdb/node-bindings')
const binding = require(bindingPath)
const names = Object.getOwnPropertyNames(binding)
const duckdb = Object.fromEntries(names.map((name) => [name, binding[name]]))
require.cache[bindingPath].exports = duckdb
for (const name of names.filter((each) => each.startsWith('bind_'))) {
  const bind = duckdb[name]
  duckdb[name] = (...values) => {
    const request = finished && requests.getStore()
    if (request && !('question' in request.parts)) mark('question')
    return bind(...values)
  }
}
duckdb.execute_prepared = async (prepared) => {
  mark('bind')
  const result = await binding.execute_prepared(prepared)
  mark('query')
  return result
}

const { fdatasync } = fs
fs.fdatasync = (file, done) => {
  mark('begin sync')
  fdatasync(file, (cause) => {
    mark('sync')
    done(cause)
  })
}
syncBuiltinESMExports()

/** Of the event loop's thread and of the whole process, in milliseconds. */
function cpu() {
  const ticks = fs.readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8')
  const { user, system } = process.cpuUsage()
  return { loop: Number(ticks.split(' ')[0]) / 1e6, all: (user + system) / 1e3 }
}

/** How long a job that does almost nothing takes in the thread pool, there and back. */
async function poolTripMs() {
  const times = []
  for (let trip = 0; trip < poolTrips; trip += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    const startedMs = performance.now()
    await fs.promises.stat('/')
    times.push(performance.now() - startedMs)
  }
  return times.sort((a, b) => a - b)[poolTrips / 2]
}

async function begin(kind) {
  finished = kind === 'parts' ? [] : null
  if (kind === 'profile') {
    profiler = new Session()
    profiler.connect()
    await profiler.post('Profiler.enable')
    await profiler.post('Profiler.setSamplingInterval', { interval: profileEveryMicroseconds })
    await profiler.post('Profiler.start')
  }
  begun = cpu()
}

async function stop() {
  const now = cpu()
  const parts = finished ?? []
  finished = null
  requests.disable()
  const stopped = await profiler?.post('Profiler.stop')
  profiler?.disconnect()
  profiler = null
  const spent = { loopMs: now.loop - begun.loop, allMs: now.all - begun.all }
  return { ...spent, parts, profile: stopped?.profile ?? null }
}

const orders = { begin, stop, poolTrip: poolTripMs }
process.on('message', ({ order, value }) => {
  orders[order]?.(value).then((reply) => process.send({ reply: reply ?? null }))
})
// The channel alone does not keep the process alive.
process.channel?.unref()
