import t from 'tap'
import { runContract } from '../io/engine/fixtures/contract.js'

await runContract(t, 'packed')
