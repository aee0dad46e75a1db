import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import t from 'tap'
import type { Test } from 'tap'
import { DescriptorWatch } from '../../src/app/descriptors.js'
import { openFilesLimit } from '../../src/machine.js'
import { machineClock } from '../../src/clock.js'

interface Line {
  readonly level: number
  readonly msg: string
  readonly dropped?: number
}

/** A listening server under watch, with a clock of the test's own. */
async function observe(t: Test, filesMax: number | null, connectionsMax = 10_000) {
  const server = createServer((socket) => socket.on('error', () => undefined))
  server.maxConnections = connectionsMax
  const clock = { ms: 0 }
  const lines: Line[] = []
  const watch = new DescriptorWatch({
    server,
    filesMax,
    clock: { ...machineClock, monotonicMs: () => clock.ms },
    logger: pino({}, { write: (line: string) => lines.push(JSON.parse(line) as Line) }),
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    watch.close()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const dial = async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  return { server, clock, lines, dial, watch }
}

/** Part of util-linux. */
const prlimit = '/usr/bin/prlimit'

function limitFiles(files: number): void {
  execFileSync(prlimit, ['--pid', String(process.pid), `--nofile=${files}:`])
}

/** Runs `work` while this process can open no more files. */
function withoutFiles(work: () => void): void {
  const limit = openFilesLimit()?.soft ?? 1024
  limitFiles(Math.min(limit, 512))
  const files: number[] = []
  try {
    for (;;) files.push(openSync('/dev/null', 'r'))
  } catch {
    work()
  }
  for (const file of files) closeSync(file)
  limitFiles(limit)
}

await t.test('descriptors are reserved for files at every limit', async (t) => {
  for (const [filesMax, connectionsMax] of [
    [null, 10_000],
    [1_048_576, 10_000],
    [4096, 3840],
    [512, 256],
    [128, 64],
  ] as const) {
    const { server, lines } = await observe(t, filesMax)
    t.equal(server.maxConnections, connectionsMax, String(filesMax))
    t.equal(lines.length, filesMax === 128 ? 1 : 0)
    if (filesMax === 128) t.match(lines[0], { level: 40, filesMax: 128, msg: /`ulimit -n 65536`/ })
  }
  t.ok((openFilesLimit()?.soft ?? 0) > 0)
})

await t.test('dropped connections are logged with the remedy, once a minute', async (t) => {
  const { server, clock, lines, dial } = await observe(t, null, 2)
  for (let open = 0; open < 2; open += 1) await dial()
  const drop = async () => {
    const dropped = once(server, 'drop')
    await dial()
    await dropped
  }
  await drop()
  t.match(lines, [
    {
      level: 50,
      dropped: 1,
      connectionsMax: 2,
      msg: /^too many connections: new connections are dropped\. .*`LimitNOFILE=65536` in the systemd/,
    },
  ])
  await drop()
  clock.ms = 59_999
  await drop()
  t.equal(lines.length, 1)
  clock.ms = 60_000
  await drop()
  t.match(lines[1], { dropped: 3 }, 'with all since')
})

await t.test(
  'a line about files leaves the dropped connections to be counted',
  { skip: !existsSync(prlimit) && 'needs prlimit' },
  async (t) => {
    const { server, clock, lines, dial, watch } = await observe(t, null, 2)
    for (let open = 0; open < 2; open += 1) await dial()
    const drop = async () => {
      const dropped = once(server, 'drop')
      await dial()
      await dropped
    }
    for (let count = 0; count < 3; count += 1) await drop()
    clock.ms = 60_000
    withoutFiles(() => watch.check())
    clock.ms = 120_000
    await drop()
    t.match(lines, [{ dropped: 1 }, { code: 'EMFILE', msg: /^no more files/ }, { dropped: 3 }])
    t.equal(lines.length, 3)
  },
)

await t.test('no line is logged while files can be opened', async (t) => {
  const { watch, lines } = await observe(t, null)
  watch.check()
  t.same(lines, [])
})
