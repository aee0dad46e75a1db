import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { measure } from './bench/measure.js'
import { faultsOf, isOurs } from './bench/findings.js'
import { help, readOptions } from './bench/bench-options.js'
import type { Options } from './bench/bench-options.js'
import { installPeers } from './bench/peers.js'
import { reportMarkdown, reportText } from './bench/report.js'
import { goalsOf } from './bench/targets.js'
import { launcher } from './check-reload/reload-fixture.js'
import { runScript } from './harness/script.js'
import { Ends } from './harness/cleanup.js'

async function run(options: Options, ends: Ends): Promise<void> {
  if (!existsSync(launcher)) throw new Error('dist/das.cjs is missing: npm run build')
  if (options.installPeers) {
    say(`installing the peers into ${options.peers}`)
    await installPeers(options.peers)
  }
  const findings = await measure(options, say, ends)
  process.stdout.write(reportText(findings))
  if (options.json !== null) {
    const report = { ...findings, goals: goalsOf(findings), faults: faultsOf(findings) }
    await writeFile(options.json, `${JSON.stringify(report, null, 2)}\n`)
  }
  if (options.markdown !== null) {
    await writeFile(options.markdown, reportMarkdown(findings, commandText(process.argv.slice(2))))
  }
  if (faultsOf(findings).some(isOurs)) process.exitCode = 1
}

/** The command that others repeat it with: where files lie is this machine's own business. */
function commandText(argv: readonly string[]): string {
  const words = argv.map((word) => (/[\\/]/.test(word) ? 'F' : word))
  return ['npm run bench --', ...words].join(' ')
}

/** What runs now; on a terminal each line takes the place of the one before. */
function say(words: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[Kbench: ${words}` : `bench: ${words}\n`)
}

/** Ends what runs, at a signal as well as at the end. */
async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2))
  if (!options) {
    process.stdout.write(help)
    return
  }
  const ends = new Ends()
  const stop = () => {
    say('stopping\n')
    void ends.closeAll().finally(() => process.exit(130))
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  try {
    await run(options, ends)
  } finally {
    await ends.closeAll()
  }
}

await runScript('bench', main)
