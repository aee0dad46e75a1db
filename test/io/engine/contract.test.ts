import t from 'tap'
import { runContract } from './fixtures/contract.js'

await runContract(t, 'forms')
