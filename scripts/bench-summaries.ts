import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { prepareData } from './bench/bench-data.js'
import { memoryLimitBytes } from './bench/bench-options.js'
import { httpContestant } from './bench/contestant.js'
import { startDas } from './bench/das.js'
import type { Das } from './bench/das.js'
import { startEngine } from './bench/engine.js'
import type { Facts } from './bench/facts.js'
import { loadServer, startClients } from './bench/load.js'
import { noPeers, startPeers } from './bench/peers.js'
import { dasAsker, engineAsker, peerAskers } from './bench-summaries/askers.js'
import { summaryWorkloads } from './bench-summaries/questions.js'
import { askInTurns } from './bench-summaries/rounds.js'
import type { Asker, SummaryTimes } from './bench-summaries/rounds.js'
import { requireBuild } from './harness/fixture.js'
import { optionalText, text, toggle, whole } from './harness/options.js'
import { markdownTable, textTable } from './harness/report.js'
import { runScript } from './harness/script.js'
import type { Run } from './harness/script.js'
import { median } from './harness/statistics.js'

const command = {
  name: 'bench-summaries',
  usage: 'npm run bench:summaries --',
  about: `Measures questions about many rows over HTTP beside the bare engine, ROAPI's SQL and the same
statements in a FastAPI + DuckDB server, on yearly files as they were dropped and on packed ones. All
are asked in turns, and their answers are compared:
${summaryWorkloads.map(({ name, title }) => `  ${name}  ${title}`).join('\n')}
  again  S2 asked a second time
  load   look-ups from 16 connections, alone and beside summaries that never end
The exit code is 1 when an answer differs from the engine's.`,
  options: {
    source: optionalText('files that generate-financials.ts has made, instead of new ones'),
    companies: whole('new files of so many, about 6.65 rows each', 100_000, 1, 100_000_000),
    keep: optionalText('the folder of registry, state and packed copy; kept, and used again'),
    folder: text('where files are made', tmpdir()),
    peers: text('a Python environment with the peers', '.venv-bench'),
    dasOnly: toggle('no peers'),
    rounds: whole('of each question', 5, 1, 100_000),
    seconds: whole('of each load', 10, 1, 100_000),
    memoryLimit: memoryLimitBytes,
    markdown: optionalText('writes the table to a file'),
  },
}

const loadRounds = 2

await runScript(command, async (options, run) => {
  requireBuild()
  const facts = await prepareData(options, run)
  run.update('starting the servers')
  const place = { ...options, serverCores: null }
  const das = await startDas(facts, place, run)
  const peers = options.dasOnly ? noPeers : await startPeers(facts, place, run)
  const engines = [facts.yearly, facts.packed].map(async (layout) =>
    engineAsker(await startEngine(layout, facts.columns, run.cleanup), layout),
  )
  const datasets = ['yearly', 'packed']
  const askers = [
    ...[...datasets].reverse().map((dataset) => dasAsker(das, dataset)),
    ...(await Promise.all(engines)),
    ...peerAskers(peers, datasets),
  ]
  const found: (readonly [string, readonly SummaryTimes[]])[] = []
  for (const workload of summaryWorkloads) {
    run.update(workload.name)
    const times = await askInTurns(workload, askers, facts, options.rounds)
    found.push([`${workload.name} ${workload.title}`, times])
  }
  const titles = ['ms at the median', ...askers.map(({ name }) => name)]
  const rows = found.map(([name, times]) => [name, ...times.map(cell)])
  run.print(textTable(titles, rows))
  for (const [name, times] of found) {
    for (const { name: who, fault } of times) if (fault) run.print(`${name}, ${who}: ${fault}\n`)
  }
  run.print(await againText(facts, dasAsker(das, 'packed')))
  run.print(await loadText(facts, das, options.seconds, run))
  if (options.markdown !== null) await writeFile(options.markdown, markdownTable(titles, rows))
  const isWrong = found.some(([, times]) =>
    times.some(({ name, fault }) => fault !== null && /^(das|engine)/.test(name)),
  )
  if (isWrong) process.exitCode = 1
})

function cell({ medianMs, fault }: SummaryTimes): string {
  const time = medianMs === null ? '—' : medianMs.toPrecision(3)
  return fault === null ? time : `${time} *`
}

/** A question that was just answered, asked many times. */
async function againText(facts: Facts, asker: Asker): Promise<string> {
  const asked = summaryWorkloads[1]?.askedOf(facts, 1)
  if (!asked) throw new Error('there is no S2')
  await asker.ask(asked)
  const times: number[] = []
  for (let at = 0; at < 100; at += 1) times.push((await asker.ask(asked)).ms)
  return `again: ${median(times).toPrecision(3)} ms at the median of ${times.length}\n`
}

/** Look-ups alone and beside an endless row of summaries, in turns. */
async function loadText(facts: Facts, das: Das, seconds: number, run: Run): Promise<string> {
  const clients = startClients(run.cleanup)
  const { server, token } = das
  const target = { kind: 'das', base: server.base, dataset: 'packed', token } as const
  const contestant = { ...httpContestant(target), target }
  const summaries = dasAsker(das, 'packed')
  const lines: string[] = []
  for (let turn = 0; turn < 2 * loadRounds; turn += 1) {
    const isBusy = turn % 2 === 1
    run.update(`look-ups, ${isBusy ? 'beside summaries' : 'alone'}`)
    const state = { isOver: false, answered: 0 }
    const others = isBusy ? keepAsking(facts, summaries, state, turn) : Promise.resolve()
    const load = await loadServer(clients, contestant, das, facts, seconds)
    state.isOver = true
    await others
    const { requestsPerSecond, p50Ms, p99Ms, failed } = load
    const beside = isBusy ? `beside ${state.answered} summaries` : 'alone'
    const speed = `${requestsPerSecond.toFixed(0)}/s, p50 ${p50Ms.toFixed(1)} ms`
    lines.push(`look-ups ${beside}: ${speed}, p99 ${p99Ms.toFixed(1)} ms, ${failed} failed\n`)
  }
  return lines.join('')
}

/** No question twice: a kept answer would leave the engine idle. */
async function keepAsking(
  facts: Facts,
  { ask }: Asker,
  state: { readonly isOver: boolean; answered: number },
  turn: number,
): Promise<void> {
  const distinct = summaryWorkloads[4]
  if (!distinct) throw new Error('there is no S5')
  for (let at = 0; !state.isOver; at += 1) {
    await ask(distinct.askedOf(facts, 1000 * (turn + 1) + at))
    state.answered += 1
  }
}
