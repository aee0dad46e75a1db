import module from 'node:module'

// tap records every file that a test loads, for coverage and its watch mode, in a thread of loader
// hooks: half of the CPU time of a short test. A run without coverage does without.
module.register = () => undefined
