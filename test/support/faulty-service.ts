import type { Caller, Service, RequestContext } from '../../src/service.js'

const failNow = async () => {
  throw new Error('SELECT secret FROM read_parquet("/tmp/x.parquet")')
}

const fail = async () => failNow()

const rate = {
  limit: 1,
  requests: 0,
  isFree: false,
  remaining: 1,
  resetSeconds: 60,
  exceeded: false,
}

async function admit(context: RequestContext): Promise<Caller> {
  return {
    context,
    principal: { kind: 'demo', id: 'demo' },
    catalog: { datasets: new Map(), demo: null, prompts: [], title: '' },
    usage: null,
    limits: { rate, quota: undefined },
  }
}

/** A service that admits every caller, and then fails with words that no caller may see. */
export const faultyService: Service = {
  admit,
  admitKnown: admit,
  admitHolder: admit,
  admitMessage: admit,
  spend: async (caller) => caller,
  admitAnonymous: () => undefined,
  readPage: fail,
  top: fail,
  find: fail,
  summarize: fail,
  changes: fail,
  hasWatchedChange: failNow,
  listVersions: fail,
  exportPages: fail,
  listDatasets: fail,
  describeDataset: fail,
  describeFacts: fail,
  guideDataset: fail,
  account: fail,
  connections: failNow,
  endConnection: failNow,
  showcase: () => ({ demoToken: null, datasets: [] }),
  reference: failNow,
  prepare: fail,
  cacheUse: () => {
    throw new Error('no request asks for it')
  },
}
