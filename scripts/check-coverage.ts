import { readFileSync } from 'node:fs'

/** The share of lines of `src/` that the tests must run, in percent. */
const linesMin = 97

/** Code for servers that `npm run test:scale` starts: its tests do not count here. */
const scale = /[\\/]src[\\/](control[\\/]postgres|engine[\\/]trino)[\\/]/

interface Summary {
  readonly lines: { readonly total: number; readonly covered: number; readonly pct: number }
}

const report = JSON.parse(readFileSync('.tap/report/coverage-summary.json', 'utf8')) as Record<
  string,
  Summary
>
const files = Object.entries(report).filter(
  ([path]) => /[\\/]src[\\/]/.test(path) && !scale.test(path),
)
const total = files.reduce((sum, [, { lines }]) => sum + lines.total, 0)
const covered = files.reduce((sum, [, { lines }]) => sum + lines.covered, 0)
const percent = total === 0 ? 0 : (100 * covered) / total
console.log(
  `line coverage of src/ without PostgreSQL and Trino: ${percent.toFixed(2)} % of ${total} ` +
    `lines (at least ${linesMin} %)`,
)
if (percent < linesMin) {
  for (const [path, { lines }] of files) {
    if (lines.pct < linesMin) console.log(`  ${lines.pct.toFixed(1)} %  ${path}`)
  }
  process.exitCode = 1
}
