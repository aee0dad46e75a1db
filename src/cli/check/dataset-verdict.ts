import type { Dataset } from '../../catalog/dataset.js'
import { brokenLinks } from '../../catalog/links.js'
import type { PublishedVersion } from '../../control/dataset-versions.js'
import type { Grant } from '../../control/grants.js'
import { parameterNames } from '../../registry/column-names.js'
import { keyProblem } from '../../versions/changes/change-set.js'
import { plansOf } from '../../registry/registry.js'
import type { Registry } from '../../registry/registry.js'
import { listed, many, quoted } from '../../text.js'
import { filesThatMayHold } from '../../versions/choose-files.js'
import type { Inspection } from '../../versions/inspector.js'
import type { Version } from '../../versions/version.js'
import type { ExaminedDataset } from './examine-dataset.js'
import { finding } from './finding-table.js'
import type { Finding, FindingLevel } from './finding-table.js'
import { columnFindings, layoutFindings, valueFindings } from './version-findings.js'

/** The verdict on a dataset, as `das dataset check --json` prints it. */
export interface DatasetCheck {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'refused'
  /** The most important first. */
  readonly findings: readonly Finding[]
}

export interface CheckContext {
  readonly registry: Registry
  /** The grants of live subscriptions. */
  readonly sold: readonly Grant[]
  /** By name, with all that links name. */
  readonly datasets: ReadonlyMap<string, Dataset>
  /** The newest published version of each dataset. */
  readonly published: ReadonlyMap<string, PublishedVersion>
}

const levels: readonly FindingLevel[] = ['error', 'warning', 'info']

/** The verdict on an examined dataset. */
export function checkDataset(examined: ExaminedDataset, context: CheckContext): DatasetCheck {
  const { dataset, reasons, version, inspection } = examined
  const all = [
    ...reasons.map((line) => finding('refused', line)),
    ...examined.refusals.map((line) => finding('delivery_refused', line)),
    ...storedFindings(examined),
    ...examined.warnings.map(({ code, message }) => finding(code, message)),
    ...(version ? versionFindings(dataset, version, context) : []),
    ...(version && inspection !== null ? inspectionFindings(examined, version, inspection) : []),
    ...brokenLinks(dataset.name, dataset, context.datasets, context.registry).map((line) =>
      finding('link_broken', line),
    ),
    ...planFindings(dataset.name, context),
    ...(version ? changesFindings(version, context.published.get(dataset.name)) : []),
  ]
  const findings = levels.flatMap((level) => all.filter((each) => each.level === level))
  const isRefused = !dataset.version || findings[0]?.level === 'error'
  const hasWarning = findings.some(({ level }) => level === 'warning')
  return {
    name: dataset.name,
    status: isRefused ? 'refused' : hasWarning ? 'warning' : 'ok',
    findings,
  }
}

/** Verdicts on datasets that live subscriptions include but the registry lacks. */
export function missingDatasetChecks({
  registry,
  sold,
}: Pick<CheckContext, 'registry' | 'sold'>): readonly DatasetCheck[] {
  const names = new Set(sold.map(({ dataset }) => dataset))
  return [...names]
    .filter((name) => !registry.datasets.has(name))
    .map((name) => {
      const count = sold.filter(({ dataset }) => dataset === name).length
      const message = `${holders(count)} it, but the registry does not list it: they get 404`
      return { name, status: 'warning', findings: [finding('granted_dataset_missing', message)] }
    })
}

/** What is to be said of the portal, under its name. */
export function portalChecks({ portalWarnings }: Registry): readonly DatasetCheck[] {
  if (portalWarnings.length === 0) return []
  const findings = portalWarnings.map((line) => finding('portal', line))
  return [{ name: 'portal', status: 'warning', findings }]
}

/** A first version has nothing to compare. */
function changesFindings(
  version: Version,
  published: PublishedVersion | undefined,
): readonly Finding[] {
  const problem = keyProblem(version)
  if (problem !== null) return [finding('no_changes', `no changes can be had: ${problem}`)]
  const why = published?.previous == null ? null : published.changesReason
  return why === null
    ? []
    : [finding('no_changes', `the version published last has no changes: ${why}`)]
}

function versionFindings(
  dataset: Dataset,
  version: Version,
  { registry }: CheckContext,
): readonly Finding[] {
  const { demo } = dataset
  const findings: Finding[] = []
  const where = version.table ? 'the table has' : 'the files have'
  if (version.rows === 0) findings.push(finding('no_rows', `${where} no rows`))
  if (version.key.length === 0 && version.files.length > 1) {
    const message =
      'there is no key, so every look-up reads every file; list the key columns in key'
    findings.push(finding('no_key', message))
  }
  findings.push(...emptyHistory(dataset, version))
  if (demo && registry.demo === null) {
    const message = 'there is a demo subset, but the registry has no demo token to read it'
    findings.push(finding('demo_without_token', message))
  }
  if (demo && version.rows > 0 && filesThatMayHold(version.files, demo).length === 0) {
    findings.push(finding('demo_empty', 'no file can have a row of the demo subset'))
  }
  return [
    ...findings,
    ...columnFindings(version),
    ...parameterFindings(version),
    ...undescribed(version, registry),
  ]
}

function emptyHistory({ plans }: Dataset, version: Version): readonly Finding[] {
  const { history, newestHistory, rows } = version
  const isLimited = [...plans.values()].some(({ history: years }) => years !== 'all')
  if (!history || newestHistory !== undefined || rows === 0 || !isLimited) return []
  const name = quoted(history.name)
  const message = `the history column ${name} is empty: plans that count years see no rows`
  return [finding('history_empty', message)]
}

/** Where it is no parameter, such a column is filtered like any other. */
function parameterFindings({ columns }: Version): readonly Finding[] {
  const found = columns.filter(({ name, hidden }) => !hidden && parameterNames.includes(name))
  if (found.length === 0) return []
  const message =
    `${found.map(({ name }) => quoted(name)).join(', ')}: also parameters of requests, such as ` +
    'aggregates; filter on them by POST and MCP'
  return [finding('name_parameter', message)]
}

function undescribed(version: Version, { datasets }: Registry): readonly Finding[] {
  if (datasets.get(version.dataset)?.dictionary === undefined) return []
  const found = version.columns.filter(({ hidden, description }) => !hidden && !description)
  if (found.length === 0) return []
  const message =
    `${many(found.length, 'column')} without a description: ` +
    `${listed(found.map(({ name }) => quoted(name)))}; AI agents guess what they mean`
  return [finding('no_description', message)]
}

function inspectionFindings(
  { dataset, packs }: ExaminedDataset,
  version: Version,
  inspection: Inspection | string,
): readonly Finding[] {
  if (typeof inspection === 'string') {
    return [finding('unfinished', `the values could not be read: ${inspection}`)]
  }
  return [
    ...layoutFindings(version, inspection.rowGroups, packs),
    ...valueFindings(version, inspection),
    ...emptySubset(dataset, version, inspection),
  ]
}

function storedFindings({ stored }: ExaminedDataset): readonly Finding[] {
  return stored.map(({ file, reason }) => {
    const message =
      `${file} is damaged in the state folder: ${reason}; a running server stops serving it and ` +
      'serves another intact form. If das dataset list still reports it, restore an intact copy ' +
      'of the file'
    return finding('stored_damaged', message)
  })
}

/** `versionFindings` has reported a subset that the files' bounds exclude. */
function emptySubset(
  { demo }: Dataset,
  { files, rows }: Version,
  { subsetRows }: Inspection,
): readonly Finding[] {
  if (!demo || subsetRows !== 0 || rows === 0) return []
  if (filesThatMayHold(files, demo).length === 0) return []
  return [finding('demo_empty', 'the demo subset has no rows; choose values that the files have')]
}

function planFindings(dataset: string, { registry, sold }: CheckContext): readonly Finding[] {
  const entry = registry.datasets.get(dataset)
  const plans = entry ? plansOf(entry) : new Map<string, unknown>()
  const findings =
    plans.size > 0 ? [] : [finding('no_plans', 'it has no plans, so it cannot be sold')]
  const grants = sold.filter((grant) => grant.dataset === dataset && !plans.has(grant.plan))
  for (const plan of new Set(grants.map((grant) => grant.plan))) {
    const count = grants.filter((grant) => grant.plan === plan).length
    const message =
      `${holders(count)} plan "${plan}", but the dataset does not have it: ` + 'they get 404'
    findings.push(finding('granted_plan_missing', message))
  }
  return findings
}

function holders(count: number): string {
  return count === 1 ? '1 live subscription has' : `${count} live subscriptions have`
}
