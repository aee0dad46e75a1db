import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bareEnvironment } from '../../harness/fixture.js'
import { system } from '../../harness/process.js'
import { sum } from '../../harness/statistics.js'
import { dasOf, untilLogged, wholeLog } from './site.js'
import type { FaultCase } from './site.js'

const stepDays = 40

/** Rows that das usage --repair moved. */
interface Moved {
  readonly rows: number
}

const clockOf = (folder: string) => join(folder, 'clock')

/** What the loader needs to put libfaketime before the C library. */
async function faketime(): Promise<string> {
  return (await system('faketime', '-m', '-f', '+0', 'printenv', 'LD_PRELOAD')).trim()
}

/** Whether Debian's package faketime is installed. */
export async function hasFaketime(): Promise<boolean> {
  return faketime().then(
    () => true,
    () => false,
  )
}

/** The clock of the machine is wrong. */
export const clockFaults: readonly FaultCase[] = [
  {
    name: 'clock steps',
    about: `the clock is ${stepDays} days ahead until the log says so, then right again; das usage --repair follows`,
    needs: 'faketime',
    start: async (folder) => {
      await writeFile(clockOf(folder), '+0d')
      const env = {
        ...bareEnvironment(),
        LD_PRELOAD: await faketime(),
        FAKETIME_TIMESTAMP_FILE: clockOf(folder),
        FAKETIME_NO_CACHE: '1',
        // Timers and times of files stay those of the machine.
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        NO_FAKE_STAT: '1',
      }
      return { env, ...wholeLog }
    },
    strike: async (site) => {
      const clock = clockOf(site.fixture.folder)
      await writeFile(clock, `+${stepDays}d`)
      await untilLogged(site, 'the clock was set ahead')
      await writeFile(clock, '+0d')
      await untilLogged(site, 'the clock was set back')
      await untilLogged(site, 'rows are counted in')
      const moved = JSON.parse(await dasOf(site, ['usage', '--repair', '--json'])) as Moved[]
      site.notes.push(`das usage --repair moved ${sum(moved.map(({ rows }) => rows))} rows back`)
    },
  },
]
