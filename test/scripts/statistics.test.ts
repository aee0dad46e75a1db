import t from 'tap'
import { mannWhitneyP } from '../../scripts/harness/statistics.js'

await t.test('the Mann-Whitney test counts ranks, with ties', (t) => {
  const near = (given: number, wanted: number) => t.ok(Math.abs(given - wanted) < 1e-4, `${given}`)
  // By hand: U = 4.5 of 25, three ties of two, variance 22.5, z = -1.6867.
  near(mannWhitneyP([1, 2, 3, 4, 5], [3, 4, 5, 6, 7]), 0.0917)
  near(mannWhitneyP([3, 4, 5, 6, 7], [1, 2, 3, 4, 5]), 0.0917)
  // By hand: U = 0 of 16, variance 12, z = -2.3094.
  near(mannWhitneyP([1, 2, 3, 4], [50, 60, 70, 80]), 0.0209)
  near(mannWhitneyP([1, 2, 3], [1, 2, 3]), 1)
  t.equal(mannWhitneyP([5, 5, 5], [5, 5, 5]), 1)
  t.end()
})
