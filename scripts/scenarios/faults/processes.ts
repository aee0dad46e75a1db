import { randomOf } from '../../harness/random.js'
import { system } from '../../harness/process.js'
import type { FaultCase } from './site.js'

const pauseMs = 3000
const stormRestarts = 4

/** The process is killed, stopped or restarted. */
export const processFaults: readonly FaultCase[] = [
  {
    name: 'kill -9',
    about: 'the server is killed, and started again',
    strike: async (site) => {
      const random = randomOf(Number(site.pid))
      await site.wait(random.whole(5, 500))
      await site.restart('SIGKILL')
    },
  },
  {
    name: 'stopped process',
    about: `the server gets SIGSTOP, and SIGCONT after ${pauseMs / 1000} s`,
    strike: async (site) => {
      site.server.child.kill('SIGSTOP')
      await site.wait(pauseMs)
      site.server.child.kill('SIGCONT')
    },
  },
  {
    name: 'restart storm',
    about: `${stormRestarts} restarts after another; walks go on with their old cursors`,
    strike: async (site) => {
      for (let restart = 0; restart < stormRestarts; restart++) {
        await site.restart()
        await site.wait(200)
      }
    },
  },
  {
    name: 'no descriptors',
    about: 'the process may open no more files (EMFILE) for 2 s',
    strike: async (site) => {
      await system('prlimit', '--pid', site.pid, '--nofile=24:')
      await site.wait(2000)
      await system('prlimit', '--pid', site.pid, '--nofile=4096:')
    },
  },
]
