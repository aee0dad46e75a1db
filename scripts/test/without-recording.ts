import module from 'node:module'

// tap records every file that a test loads, for coverage and its watch mode, in a thread of loader
// hooks: half of the CPU time of a short test. A run without coverage does without.
module.register = () => undefined

// The processes that a test starts have hooks of their own.
const { env, argv } = process
if (argv[1]?.endsWith('.test.js')) {
  env['NODE_OPTIONS'] = env['NODE_OPTIONS']?.replace(/ *--import=\S+without-recording\.js/, '')
}
