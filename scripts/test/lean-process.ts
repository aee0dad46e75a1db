import asyncHooks from 'node:async_hooks'
import module, { syncBuiltinESMExports } from 'node:module'

// What tap does in every process, and these tests do without: half of the CPU time of a short one.

const { env, argv } = process

// It follows all asynchronous work to find the test of a stray error. Without that, such an error
// ends the process, which fails the run too.
const hook: asyncHooks.AsyncHook = { enable: () => hook, disable: () => hook }
asyncHooks.createHook = () => hook
syncBuiltinESMExports()

// It records every file that a test loads, for coverage and its watch mode, in a thread of loader
// hooks.
if (env['DAS_TEST_COVERAGE'] !== '1') module.register = () => undefined

// The processes that a test starts are as they are.
if (argv[1]?.includes('.test/')) {
  const own = /"?--import=\S+?lean-process\.js"? *"?--max-semi-space-size=\d+"?/
  env['NODE_OPTIONS'] = env['NODE_OPTIONS']?.replace(own, '')
}
