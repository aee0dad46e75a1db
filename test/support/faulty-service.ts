import type { Caller, Service, RequestContext } from '../../src/service.js'

const fail = () => Promise.reject(new Error('SELECT secret FROM read_parquet("/tmp/x.parquet")'))

function admit(context: RequestContext): Caller {
  return {
    context,
    principal: { kind: 'demo', id: 'demo' },
    catalog: { datasets: new Map(), demo: null },
    usage: null,
  }
}

/** A service that lets everybody in, and then fails with words that nobody may see. */
export const faultyService: Service = {
  admit,
  admitMessage: admit,
  spend: () => undefined,
  admitAnonymous: () => undefined,
  readPage: fail,
  exportPages: fail,
  listDatasets: fail,
  describeDataset: fail,
  guideDataset: fail,
  account: fail,
  showcase: () => ({ demoToken: null, datasets: [] }),
  reference: fail,
  prepare: fail,
}
