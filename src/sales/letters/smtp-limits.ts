/** The longest waits for a mail server, in ms. */
export interface SmtpLimits {
  readonly dnsMs: number
  readonly connectMs: number
  /** For the greeting, and for TLS to begin. */
  readonly greetingMs: number
  /** Without any answer. */
  readonly silenceMs: number
  /** For all of one letter. */
  readonly attemptMs: number
}

/** For a command whose user waits; the server retries with longer limits. */
export const commandLimits: SmtpLimits = {
  dnsMs: 5000,
  connectMs: 5000,
  greetingMs: 5000,
  silenceMs: 5000,
  attemptMs: 10_000,
}

export const smtpLimits: SmtpLimits = {
  dnsMs: 10_000,
  connectMs: 15_000,
  greetingMs: 15_000,
  silenceMs: 30_000,
  attemptMs: 60_000,
}
