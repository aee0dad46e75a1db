import { doOrder } from './child-work.js'
import { importHere } from './sampling.js'

// The process of `import-process.ts`.

doOrder(importHere)
