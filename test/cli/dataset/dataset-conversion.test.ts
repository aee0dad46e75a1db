import { execFile } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { conversionOf } from '../../../src/versions/files/conversion.js'
import { buildCliFixture } from '../fixtures/cli-fixture.js'

const run = promisify(execFile)

await t.test('a file of another format is refused with a command that converts it', async (t) => {
  const { das, folder } = await buildCliFixture(t)
  const rows = 'inn,v\n0261012138,1\n7708004767,2\n'
  const files: Readonly<Record<string, readonly [format: string, text: string | Uint8Array]>> = {
    'a.csv': ['CSV', rows],
    'it\'s $HOME `x` "q" \\.CSV': ['CSV', rows],
    'packed.csv.gz': ['CSV', gzipSync(rows)],
    'b.tsv': ['TSV', rows.replaceAll(',', '\t')],
    'c.json': ['JSON', '[{"inn": "0261012138", "v": 1}, {"inn": "7708004767", "v": 2}]'],
    'd.ndjson': ['NDJSON', '{"inn": "0261012138", "v": 1}\n{"inn": "7708004767", "v": 2}\n'],
  }
  const environment = { PATH: `${duckDbProgram(folder)}:${process.env['PATH']}` }
  for (const [index, [name, [format, text]]] of Object.entries(files).entries()) {
    const path = join(folder, name)
    writeFileSync(path, text)
    const flags = ['--name', `d${index}`, '--yes', '--no-dictionary', '--json']
    const { code, stdout, stderr } = await das(['dataset', 'add', path, ...flags])
    t.same({ code, stdout }, { code: 2, stdout: '' }, name)
    t.match(
      stderr,
      new RegExp(`^error: .*${/\w+/.exec(name)?.[0]}.* is ${format}, but only Parquet`),
    )
    const command = /^ {2}(duckdb .*)$/m.exec(stderr)?.[1] ?? 'false'
    await run('bash', ['-c', command], { env: { ...process.env, ...environment } })
    const target = path.replace(/\.\w+(\.gz)?$/, '.parquet')
    const added = await das(['dataset', 'add', target, ...flags])
    t.match(added, { code: 0 }, name)
    t.match(JSON.parse(added.stdout), { rows: 2, key: ['inn'] }, 'zeros at the start are kept')
  }
})

await t.test(
  'check says how to convert a listed CSV; Parquet with any name is served',
  async (t) => {
    const { das, folder } = await buildCliFixture(t)
    writeFileSync(join(folder, 'a.csv'), 'x\n1\n')
    cpSync(join(folder, 'data', 'procurement.parquet'), join(folder, 'b.csv'))
    const entry = (name: string) => `  ${name}: {title: x, files: ${name}.csv}\n`
    writeFileSync(join(folder, 'registry.yaml'), `datasets:\n${entry('a')}${entry('b')}`)
    const { code, stdout } = await das(['dataset', 'check'])
    t.equal(code, 1)
    t.match(
      stdout,
      'a.csv is CSV, not Parquet; to convert it, run in its folder: ' +
        `duckdb -c "COPY (FROM read_csv('a.csv')) TO 'a.parquet'"`,
    )
    t.match(stdout, 'b: warning (5 rows, 2 columns, 1 file)')
    t.match(await das(['dataset', 'add', join(folder, 'b.csv'), '--yes', '--dry-run']), { code: 0 })
  },
)

await t.test('a workbook needs an extension of DuckDB; other names have no conversion', (t) => {
  t.equal(
    conversionOf('f/x.XLSX')?.command,
    `duckdb -c "INSTALL excel; LOAD excel; COPY (FROM read_xlsx('f/x.XLSX')) TO 'f/x.parquet'"`,
  )
  t.match(conversionOf('a.b.jsonl.gz'), { format: 'NDJSON', target: 'a.b.parquet' })
  for (const name of ['x.parquet', 'x', '.csv', 'x.csv.bz2', 'csv', 'x.constructor']) {
    t.equal(conversionOf(name), null, name)
  }
  t.end()
})

/** A folder with a program `duckdb` that runs the statements after `-c`. */
function duckDbProgram(folder: string): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const api = import.meta.resolve('@duckdb/node-api')
  writeFileSync(
    join(bin, 'duckdb.mjs'),
    `import { DuckDBInstance } from '${api}'
const connection = await (await DuckDBInstance.create(':memory:')).connect()
if (process.argv[2] !== '-c' || process.argv.length !== 4) process.exit(1)
await connection.run(process.argv[3])\n`,
  )
  const launcher = `#!/bin/sh\nexec '${process.execPath}' '${join(bin, 'duckdb.mjs')}' "$@"\n`
  writeFileSync(join(bin, 'duckdb'), launcher)
  chmodSync(join(bin, 'duckdb'), 0o755)
  return bin
}
