import { join } from 'node:path'
import t from 'tap'
import type { CliParts } from '../../src/cli/parts.js'
import { runCli } from '../../src/cli/program.js'
import { machineClock } from '../../src/clock.js'
import { testFolder } from '../support/folder.js'

await t.test('what a stop logs before it fails is written before the process ends', async (t) => {
  let log = ''
  let atEnd = ''
  const output = { isTTY: false, write: (text: string) => (log += text) }
  const parts = {
    ...{ version: '1.2.3', pid: 1, clock: machineClock, stdout: output, stderr: output },
    environment: { DAS_STATE: join(testFolder(t), 'var') },
    buildApp: async (_: unknown, { logger }: { logger: { warn: (text: string) => void } }) => ({
      server: { listen: async () => undefined, addresses: () => [{ port: 1 }] },
      startEngine: async () => undefined,
      prepare: async () => undefined,
      drain: async () => undefined,
      close: async () => {
        logger.warn('not saved')
        throw new Error('the disk is full')
      },
    }),
    // The process ends at once, as main.ts ends it.
    untilStopped: async ({ start, stop }: Parameters<CliParts['untilStopped']>[0]) => {
      await start()
      await stop(undefined).catch(() => {
        atEnd = log
      })
    },
  }
  await runCli(['serve', '--json'], parts as unknown as CliParts)
  t.match(atEnd, '"msg":"not saved"')
})
