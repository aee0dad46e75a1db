import { writeFile } from 'node:fs/promises'
import { command } from './bench/bench-options.js'
import { faultsOf, isOurs } from './bench/findings.js'
import { measure } from './bench/measure.js'
import { installPeers } from './bench/peers.js'
import { reportMarkdown } from './bench/report.js'
import { goalsOf } from './bench/targets.js'
import { requireBuild } from './harness/fixture.js'
import { jsonText } from './harness/report.js'
import { runScript } from './harness/script.js'

/** The command that repeats the run; paths are those of this machine and are left out. */
function commandText(argv: readonly string[]): string {
  const words = argv.map((word) => (/[\\/]/.test(word) ? 'F' : word))
  return ['npm run bench --', ...words].join(' ')
}

await runScript(command, async (options, run) => {
  requireBuild()
  if (options.installPeers) {
    run.update(`installing the peers into ${options.peers}`)
    await installPeers(options.peers, run.cleanup)
  }
  const findings = await measure(options, run)
  const faults = faultsOf(findings)
  const report = reportMarkdown(findings, commandText(process.argv.slice(2)))
  run.print(report)
  if (options.json !== null) {
    await writeFile(options.json, jsonText({ ...findings, goals: goalsOf(findings), faults }))
  }
  if (options.markdown !== null) await writeFile(options.markdown, report)
  if (faults.some(isOurs)) process.exitCode = 1
})
