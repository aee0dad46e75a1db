import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Config } from '../../config.js'
import { addPrinted } from '../command.js'
import type { Flags, Result } from '../command.js'
import { mailSettingNames } from '../mailing.js'
import type { CliParts } from '../parts.js'
import { backupFinding, clockFinding, examineControl } from './folder-checks.js'
import { findingLine, folderFindings } from './folder-checks.js'
import type { Finding } from './folder-checks.js'
import { datasetFindings, diskFindings, examineRegistry } from './server-checks.js'
import { examineServer, letterFindings, limitFindings, mailFindings } from './server-checks.js'

const settingNames = ['controlUrl', ...mailSettingNames] as const

type DoctorConfig = Pick<Config, (typeof settingNames)[number]>

/** `das doctor`: checks an installation. */
export function addDoctor(program: Command, parts: CliParts): void {
  addPrinted(program, parts, {
    usage: 'doctor',
    description:
      'Check the installation: state folder, control.db or PostgreSQL, disk, clock, server, ' +
      'proxy, limits, mail, backups, datasets. Changes nothing, sends no letter. Exits with 1 ' +
      'if a check fails.',
    settings: settingNames,
    json: 'print [{check, status: ok|warn|fail, what, advice}]',
    examples: ['das doctor', 'das doctor --public-url https://data.example.org --json'],
    run: (config, flags) => diagnose(parts, config, flags),
  })
}

async function diagnose(parts: CliParts, config: DoctorConfig, flags: Flags): Promise<Result> {
  const findings = await findingsOf(parts, config, flags)
  const failed = findings.filter(({ status }) => status === 'fail').length
  return {
    json: findings,
    lines: findings.map(findingLine),
    failure: failed > 0 ? new Error(`${failed} of ${findings.length} checks failed.`) : undefined,
  }
}

async function findingsOf(
  parts: CliParts,
  config: DoctorConfig,
  flags: Flags,
): Promise<readonly Finding[]> {
  const folder = resolve(config.state)
  const now = parts.clock.now()
  const control = await examineControl(parts, folder, config.controlUrl)
  const { facts, reports } = control
  const { registry, findings: registryFindings } = await examineRegistry(config.registry, reports)
  const server = await examineServer(parts, config, flags, control.reportKey)
  return [
    ...folderFindings(folder),
    ...control.findings,
    ...(await diskFindings(folder, registry)),
    ...(facts ? [clockFinding(now, facts)] : []),
    ...server.findings,
    ...(server.report ? limitFindings(server.report) : []),
    ...(await mailFindings(config)),
    ...(facts ? letterFindings(facts, now) : []),
    ...(facts && config.controlUrl === null ? [backupFinding(folder, facts, now)] : []),
    ...registryFindings,
    ...datasetFindings(registry, reports),
  ]
}
