import { machineClock } from '../../src/clock.js'
import { machineRandom } from '../../src/random.js'

/** The time and the random numbers of this machine, for a part whose test moves neither. */
export const machine = { clock: machineClock, random: machineRandom } as const
