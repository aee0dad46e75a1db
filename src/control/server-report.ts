import { createHmac, timingSafeEqual } from 'node:crypto'
import Type from 'typebox'
import type { Static } from 'typebox'
import { Check } from 'typebox/value'

/** The header of a request that asks for a report, and of the answer that has it. */
export const reportHeader = 'x-das-doctor'

/** Longer than a request and the difference of two clocks of one machine. */
const proofLifeMs = 60_000
const textLengthMax = 300

const text = Type.String()
const textOrNull = Type.Union([text, Type.Null()])
const countOrNull = Type.Union([Type.Integer(), Type.Null()])

const Report = Type.Object({
  /** The release of the server. */
  version: text,
  memoryLimitBytes: Type.Integer(),
  /** Of its cgroup, or of the machine. */
  machineBytes: Type.Integer(),
  openFiles: Type.Union([Type.Object({ soft: Type.Integer(), hard: countOrNull }), Type.Null()]),
  /** The networks of `--trust-proxy`. */
  trustProxy: Type.Array(text),
  /** The request as it arrived. */
  request: Type.Object({
    /** The client, by X-Forwarded-For where its sender is trusted. */
    address: textOrNull,
    /** The other end of the connection. */
    peer: textOrNull,
    peerPort: countOrNull,
    host: textOrNull,
    forwardedFor: textOrNull,
    forwardedProto: textOrNull,
  }),
})

/** What a server knows about itself and about the request that asks. */
export type ServerReport = Static<typeof Report>
export type SeenRequest = ServerReport['request']

/**
 * Proves that its sender can read the keys of the state folder: `ms.signature`, valid for a minute.
 * `now` in ms since the epoch.
 */
export function reportProof(key: Uint8Array, now: number): string {
  return `${now}.${createHmac('sha256', key).update(`das doctor ${now}`).digest('hex')}`
}

/** Whether a proof was made with this key, less than a minute before or after `now`. */
export function isReportProof(proof: string, key: Uint8Array, now: number): boolean {
  const [, time] = /^([1-9]\d{0,14})\.[\da-f]{64}$/.exec(proof) ?? []
  if (time === undefined || Math.abs(now - Number(time)) > proofLifeMs) return false
  return timingSafeEqual(Buffer.from(proof), Buffer.from(reportProof(key, Number(time))))
}

/** A report as the value of a header; long texts of the request are cut. */
export function writeReport(report: ServerReport): string {
  const cut = (_name: string, value: unknown) =>
    typeof value === 'string' ? value.slice(0, textLengthMax) : value
  return Buffer.from(JSON.stringify(report, cut)).toString('base64url')
}

/** Null for a text that is not a report. */
export function readReport(header: string): ServerReport | null {
  try {
    const report: unknown = JSON.parse(Buffer.from(header, 'base64url').toString())
    return Check(Report, report) ? report : null
  } catch {
    return null
  }
}
