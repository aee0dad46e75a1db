import { sampleFiles } from './bench/facts.js'
import { openNative, openParquet, pathsOf } from './bench-forms/form.js'
import type { Form } from './bench-forms/form.js'
import { formNames, makeForms } from './bench-forms/make-forms.js'
import type { FormName } from './bench-forms/make-forms.js'
import { costCases, rowCases, summaryCases } from './bench-forms/questions.js'
import type { Facts } from './bench-forms/questions.js'
import { reportMarkdown, timingsText } from './bench-forms/report.js'
import { measureCase } from './bench-forms/rounds.js'
import type { Timing } from './bench-forms/rounds.js'
import { openDuckDb, Statements } from './harness/duckdb.js'
import { optionalText, text, toggle, UsageError, whole } from './harness/options.js'
import type { Option } from './harness/options.js'
import { runProgram } from './harness/process.js'
import { runScript } from './harness/script.js'

const cases = [...rowCases, ...costCases, ...summaryCases]

const command = {
  name: 'bench-forms',
  usage: 'npm run bench:forms --',
  about: `Measures forms of storage of the same rows with DuckDB alone, all in turns in one run:
  yearly          files as a provider drops them: one a year, sorted by inn
  packed          the files that das dataset pack makes: sorted by inn and year
  by year         files like packed ones, sorted by year and inn
  by year large   the same in files of one row group of 122,880 rows
  native N        a table of a DuckDB database, sorted by inn and year, N rows in a row group
They are asked:
${cases.map(({ name, title }) => `  ${name.padEnd(6)}  ${title}`).join('\n')}
Look-ups, lists and pages have one thread, summaries two. Whole answers are compared.`,
  options: {
    source: text('yearly files that generate-financials.ts has made', null),
    packed: optionalText('a folder packed from them before, instead of packing them'),
    folder: text('where forms are made, and found by later runs with the same source', null),
    years: whole('so many of them; more than there are become copies', 7, 1, 100),
    forms: listOf('forms', formNames),
    only: listOf(
      'questions',
      cases.map(({ name }) => name),
    ),
    rounds: whole('of look-ups, lists and pages', 40, 1, 100_000),
    summaryRounds: whole('of summaries', 5, 1, 100_000),
    caseSeconds: whole('no more rounds of a question after that', 60, 1, 100_000),
    threads: whole('of look-ups, lists and pages', 1, 1, 64),
    memoryLimit: text("DuckDB's, e.g. 1GB", '4GB', 'S'),
    cold: toggle('drops the files from the page cache before each kind of question (needs dd)'),
    seed: whole('another seed asks other questions', 1, 0, 2 ** 32 - 1),
  },
}

/** Some of a list, all unless it is given. */
function listOf<T extends string>(what: string, all: readonly T[]): Option<readonly T[]> {
  return {
    placeholder: 'A,B',
    help: `these ${what} alone`,
    read: (given = all.join(), flag) => {
      const names = given.split(',')
      const known = all.filter((name) => names.includes(name))
      if (known.length === names.length) return known
      throw new UsageError(`${flag} must be of ${all.join(', ')}, got "${given}"`)
    },
  }
}

async function openForms(
  statements: Statements,
  made: ReadonlyMap<FormName, readonly string[]>,
  names: readonly FormName[],
): Promise<readonly Form[]> {
  const forms: Form[] = []
  for (const name of names) {
    const paths = made.get(name) ?? []
    const isNative = name.startsWith('native')
    const open = isNative ? openNative : openParquet
    forms.push(await open(statements, name, paths))
  }
  const [first] = forms
  const other = forms.find(({ rows }) => rows !== first?.rows)
  if (other) throw new Error(`${other.name} has ${other.rows} rows, ${first?.name} ${first?.rows}`)
  return forms
}

async function readFacts(packed: readonly string[]): Promise<Facts> {
  // A sample's seed repeats it only with one thread, which is what this opens.
  using duckdb = await openDuckDb()
  const { years, ...facts } = await sampleFiles(new Statements(duckdb.connection), packed)
  return { ...facts, years: [Math.min(...years), Math.max(...years)] }
}

async function dropFromCache(forms: readonly Form[]): Promise<void> {
  for (const path of forms.flatMap(pathsOf)) {
    const argv = [`if=${path}`, 'iflag=nocache', 'count=0']
    const { code, stderr } = await runProgram({ command: 'dd', argv })
    if (code !== 0) throw new Error(stderr)
  }
}

await runScript(command, async (options, run) => {
  const { rounds, summaryRounds, seed, memoryLimit } = options
  const made = await makeForms(options, options.forms, run.update)
  const facts = await readFacts(made.get('packed') ?? [])
  using duckdb = await openDuckDb({ memory_limit: memoryLimit })
  const statements = new Statements(duckdb.connection)
  // As in the server.
  await statements.run('SET parquet_metadata_cache = true', [])
  await statements.run('SET prefetch_all_parquet_files = true', [])
  const forms = await openForms(statements, made, options.forms)
  const timings: Timing[] = []
  const chosen = cases.filter(({ name }) => options.only.includes(name))
  for (const each of chosen) {
    run.update(`${each.name} ${each.title}`)
    const isRows = each.kind === 'rows'
    await statements.run(`SET threads = ${isRows ? options.threads : 2}`, [])
    if (options.cold) await dropFromCache(forms)
    const order = { rounds: isRows ? rounds : summaryRounds, seed, secondsMax: options.caseSeconds }
    const found = await measureCase(statements, forms, each, facts, order)
    run.log(timingsText(found))
    timings.push(...found)
  }
  const { years } = options
  const rows = forms[0]?.rows ?? 0
  const findings = { years, rows, memoryLimit, forms, timings }
  run.print(reportMarkdown(findings, cases))
})
