import type { Test } from 'tap'

/**
 * A folder of the test's own, removed once all that the test has opened is closed: tap removes the
 * folder of `testdir` before it calls teardowns, unless one was registered earlier. A server that
 * still writes there would make the removal fail, and then no teardown is called at all.
 */
export function testFolder(t: Test): string {
  t.teardown(() => undefined)
  return t.testdir({})
}
