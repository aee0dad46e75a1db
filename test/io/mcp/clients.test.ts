import t from 'tap'
import { nodeParties, signInParties } from '../../support/mcp/mcp-clients.js'
import {
  comeWithoutToken,
  converse,
  startStage,
  useHeader,
  withoutSignIn,
} from '../../support/mcp/mcp-scenario.js'

await t.test('one conversation, the same through every client in Node', async (t) => {
  const stage = await startStage(t, withoutSignIn)
  for (const party of nodeParties) {
    await t.test(party.name, (t) => converse(t, party, stage))
  }
})

await t.test('a client without a token gets 401 and finds no OAuth metadata', async (t) => {
  const stage = await startStage(t, withoutSignIn)
  for (const party of [...nodeParties, ...signInParties]) {
    await t.test(party.name, (t) => comeWithoutToken(t, party, stage))
  }
})

await t.test('a static header works beside the metadata of a sign-in', async (t) => {
  const stage = await startStage(t)
  for (const party of nodeParties) {
    await t.test(party.name, (t) => useHeader(t, party, stage))
  }
})
