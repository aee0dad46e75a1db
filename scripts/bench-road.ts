import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { prepareData } from './bench/bench-data.js'
import { measureBuilds, measureEngines } from './bench-road/measure-builds.js'
import { roadMarkdown } from './bench-road/road-report.js'
import { startUnderTest } from './bench-road/server-under-test.js'
import { launcher, requireBuild } from './harness/fixture.js'
import { optionalText, text, whole } from './harness/options.js'
import { runScript } from './harness/script.js'

const command = {
  name: 'bench-road',
  usage: 'npm run bench:road --',
  about: `Measures every part of a look-up in the built server: one company, 5 columns, packed files, on one
connection and on 16, by wall time and by CPU time; beside it the engine alone.`,
  options: {
    companies: whole('about 6.65 rows each', 30_000, 1, 100_000_000),
    source: optionalText('files that generate-financials.ts has made, instead of new ones'),
    keep: optionalText('the folder of registry, state and packed copy; kept, and used again'),
    folder: text('where files are made', tmpdir()),
    before: optionalText('the folder of another build, which is measured in turns with this one'),
    rounds: whole('of each build and number of connections', 5, 1, 1000),
    seconds: whole('of each measurement; a round has four', 3, 1, 1000),
    warmUp: whole('look-ups before: V8 compiles what runs often', 3000, 0, 1_000_000),
  },
}

await runScript(command, async (options, run) => {
  requireBuild()
  const facts = await prepareData(options, run)
  const { folder: packed } = facts.packed
  const now = await startUnderTest('now', dirname(launcher), packed, run)
  const { before } = options
  const builds = before === null ? [] : [await startUnderTest('before', before, packed, run)]
  run.update('the engine alone')
  const engine = await measureEngines(facts, now.registry, run)
  const roads = await measureBuilds([...builds, now], facts, options, run)
  run.print(roadMarkdown(engine, roads))
})
