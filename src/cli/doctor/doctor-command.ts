import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../../config.js'
import { defaultMemory, machineMemory, openFilesLimit } from '../../machine.js'
import { addCommand, readSettings } from '../command.js'
import type { Flags } from '../command.js'
import type { CliParts } from '../parts.js'
import { printJson, printLines } from '../print.js'
import { backupFinding } from './backups.js'
import { clockFindings } from './clock.js'
import { examineFile } from './control-facts.js'
import { examineShared } from './database.js'
import { datasetFindings, examineRegistry } from './datasets.js'
import { findingLine } from './finding.js'
import type { Finding } from './finding.js'
import { limitFindings } from './limits.js'
import { mailFindings } from './mail.js'
import { examineServer } from './server.js'
import { spaceFindings } from './space.js'
import { stateFileFindings } from './state-files.js'

const settingNames = [
  'registry',
  'state',
  'controlUrl',
  'host',
  'port',
  'publicUrl',
  'memoryLimit',
  'smtpUrl',
  'mailFrom',
] as const

/** `das doctor`: checks an installation. */
export function addDoctor(program: Command, parts: CliParts): void {
  addCommand(program, {
    usage: 'doctor',
    description:
      'Check the installation: state folder, control.db or PostgreSQL, disk, clock, limits, ' +
      'server, proxy, mail, backups, datasets. Changes nothing, sends no letter. Exits with 1 ' +
      'if a check fails.',
    settings: settingNames,
    json: 'print [{check, status: ok|warn|fail, what, advice}]',
    examples: ['das doctor', 'das doctor --public-url https://data.example.org --json'],
  }).action((flags: Flags) => diagnose(parts, flags))
}

async function diagnose(parts: CliParts, flags: Flags): Promise<void> {
  const config = readSettings(settingNames, flags, parts.environment)
  const findings = await findingsOf(parts, config, flags)
  if (flags.json) printJson(parts, findings)
  else printLines(parts, ...findings.map(findingLine))
  const failed = findings.filter(({ status }) => status === 'fail').length
  if (failed > 0) throw new Error(`${failed} of ${findings.length} checks failed.`)
}

async function findingsOf(
  parts: CliParts,
  config: Pick<Config, (typeof settingNames)[number]>,
  flags: Flags,
): Promise<readonly Finding[]> {
  const folder = resolve(config.state)
  const path = join(folder, 'control.db')
  const now = parts.clock.now()
  const url = config.controlUrl
  const control =
    url === null ? await examineFile(parts, folder) : await examineShared(parts, folder, url)
  const { facts, reports, reportKey } = control
  const { registry, findings: registryFindings } = await examineRegistry(config.registry, reports)
  const server = await examineServer(parts, config, flags, reportKey)
  const limits = server.report ?? ownLimits(config)
  return [
    ...stateFileFindings(folder),
    ...control.findings,
    ...(await spaceFindings(folder, registry)),
    ...(await clockFindings(parts, facts)),
    ...server.findings,
    ...limitFindings(limits, server.report ? 'the server' : 'this shell'),
    ...(await mailFindings(config, facts, now)),
    ...(facts && url === null ? [backupFinding(path, facts.subscriptions, now)] : []),
    ...registryFindings,
    ...datasetFindings(registry, reports),
  ]
}

/** What a server started here would have. */
function ownLimits({ memoryLimit }: Pick<Config, 'memoryLimit'>) {
  const memoryLimitBytes = memoryLimit ?? defaultMemory()
  return { openFiles: openFilesLimit(), memoryLimitBytes, machineBytes: machineMemory() }
}
