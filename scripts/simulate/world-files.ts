import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'

/** Rows a month of each plan. */
export const plans = {
  companies: {
    free: { rows: 150, rub: 0 },
    start: { rows: 1000, rub: 990 },
    pro: { rows: 20_000, rub: 3900 },
  },
  contracts: { free: { rows: 60, rub: 0 }, pro: { rows: 5000, rub: 1500 } },
} as const satisfies Readonly<
  Record<string, Readonly<Record<string, { rows: number; rub: number }>>>
>

export type DatasetName = keyof typeof plans
export const datasetNames: readonly DatasetName[] = ['companies', 'contracts']

/** Who may own the shop; one of them leaves at times. */
export const ownerNames: readonly string[] = ['owner@example.org', 'second@example.org']

const pageRowsMax = 100

/** The registry of the simulated service. */
export function registryText(owners: readonly string[]): string {
  const datasets = datasetNames.map((name) => {
    const lines = Object.entries(plans[name]).map(
      ([plan, { rows, rub }]) =>
        `      ${plan}: {rows_per_month: ${rows}, history: all, price_rub: ${rub}, ` +
        'rate_per_minute: 100000}',
    )
    return `  ${name}:
    title: ${name}
    files: data/${name}/*.parquet
    key: [id]
    limit: {default: 20, max: ${pageRowsMax}}
    require_filter: false
    listed: true
    pack: ${name === 'companies' ? 'auto' : 'off'}
    plans:
${lines.join('\n')}`
  })
  return `demo: {token: das_demo_simulated}
shop: {free: true, paid: true, contact: owner@example.org, payment: "{order} {amount}"}
portal:
  owners: [${owners.join(', ')}]
  legal: {name: Seller, inn: "7708004767", address: Street 1, vat: 20}
datasets:
${datasets.join('\n')}
`
}

/** One delivery of a dataset: all its rows carry the edition's number. */
export interface Edition {
  readonly number: number
  readonly rows: number
}

/** How a delivery is bad, and why the service must refuse it. */
export const faults = ['torn', 'lost column', 'lost rows', 'other type', 'no Parquet'] as const
export type Fault = (typeof faults)[number]

/** Delivers files as a data engineer does, beside the service. */
export class Files {
  readonly #folder: string
  #instance: DuckDBInstance | null = null

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Replaces the file of a dataset, in one rename. */
  async deliver(dataset: DatasetName, edition: Edition, atMs: number, fault?: Fault) {
    const target = join(this.#folder, 'data', dataset, 'part.parquet')
    const draft = join(this.#folder, 'drafts', 'part.parquet')
    for (const path of [target, draft]) mkdirSync(dirname(path), { recursive: true })
    await this.#write(draft, edition, fault)
    if (fault === 'torn') writeFileSync(draft, bytesOf(draft, 0.6))
    if (fault === 'no Parquet') writeFileSync(draft, 'id,edition,name\n1,1,a\n')
    utimesSync(draft, atMs / 1000, atMs / 1000)
    renameSync(draft, target)
  }

  close(): void {
    this.#instance?.closeSync()
    rmSync(join(this.#folder, 'drafts'), { recursive: true, force: true })
  }

  async #write(path: string, { number, rows }: Edition, fault?: Fault): Promise<void> {
    this.#instance ??= await DuckDBInstance.create(':memory:', { threads: '1' })
    const connection = await this.#instance.connect()
    const count = fault === 'lost rows' ? Math.floor(rows / 3) : rows
    const edition = fault === 'other type' ? `'e${number}'` : `${number}`
    const name = fault === 'lost column' ? '' : ", 'Company ' || i AS name"
    await connection.run(
      `COPY (SELECT i AS id, ${edition} AS edition${name} FROM range(1, ${count + 1}) t(i))
       TO '${path}' (FORMAT parquet)`,
    )
    connection.disconnectSync()
  }
}

function bytesOf(path: string, share: number): Buffer {
  const bytes = readFileSync(path)
  return bytes.subarray(0, Math.floor(bytes.length * share))
}
