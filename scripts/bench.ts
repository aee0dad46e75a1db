import { existsSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { startField } from './bench/contestants.js'
import { makeRows, readFacts } from './bench/data.js'
import { contestantNames } from './bench/field.js'
import { Measurement, parts } from './bench/measure.js'
import { workloads } from './bench/questions.js'
import { reportMarkdown } from './bench/report.js'
import { makeFolder, requireBuild } from './harness/fixture.js'
import { optionalText, someOf, text, toggle, whole } from './harness/options.js'
import { jsonText } from './harness/report.js'
import { runScript } from './harness/script.js'

const command = {
  name: 'bench',
  usage: 'npm run bench --',
  about: `Measures the built server over HTTP, charging, beside what runs instead: PostgreSQL + FastAPI, ROAPI,
DuckDB + FastAPI, and the bare engine. All are asked the same in turns, in one run, and their answers are
compared cell by cell:
${workloads.map(({ name, title }) => `  ${name}: ${title}`).join('\n')}
  W6: a walk over everything in pages of 1000 rows
  W7: W1 from 16 connections, always about another company; of das also beside a scan and a summary
  cold: W1 after a start, the system's page cache dropped before each question
PostgreSQL is Debian's package, the other peers are in a Python environment (scripts/bench/peers). A peer
that is not there is left out, with the line that installs it. The exit code is 1 after a wrong answer of das.`,
  options: {
    rows: whole(
      'rows in seven yearly files; 15553114 are the published size',
      200_000,
      20_000,
      1e9,
    ),
    source: optionalText('a folder of yearly files to use instead'),
    keep: optionalText('a folder for all that is made, used again; else a new one, which goes'),
    only: someOf('parts', parts),
    contestants: someOf('who', contestantNames),
    rounds: whole('of each question; of slow ones fewer', 30, 1, 1e6),
    pages: whole('of W6', 200, 1, 1e6),
    seconds: whole('of W7, for each server', 10, 1, 1e6),
    python: text('a Python environment with the peers', '.venv-bench'),
    require: toggle('fail where a peer is missing'),
    json: optionalText('a file for all figures'),
  },
}

await runScript(command, async (options, run) => {
  requireBuild()
  const { rows, source, keep, require: isStrict, json } = options
  const folder = keep === null ? await makeFolder(run, 'bench') : resolve(keep)
  await mkdir(folder, { recursive: true })
  // PostgreSQL runs as a user of its own.
  await chmod(folder, 0o755)
  const files = source === null ? join(folder, `rows-${rows}`) : resolve(source)
  if (!existsSync(files)) {
    run.update(`making ${rows} rows`)
    await makeRows(rows, files)
  }
  const facts = await readFacts(files)
  const field = await startField({ ...options, folder: join(folder, 'servers') }, facts, run)
  for (const [name, fact] of field.facts) run.log(`${name}: ${fact}`)
  if (isStrict && field.missing.length > 0) {
    throw new Error(`not installed: ${field.missing.join(', ')}`)
  }
  const measured = await new Measurement(field, facts, options, run).all()
  run.print(reportMarkdown(facts, field, measured))
  if (json !== null) await writeFile(json, jsonText({ rows: facts.rows, ...measured }))
  if (measured.faults.some((fault) => fault.startsWith('das'))) process.exitCode = 1
})
