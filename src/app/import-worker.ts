import { doOrder } from './child-work.js'
import { importHere } from './sampling.js'

doOrder(importHere)
