/** The result of one check of an installation. */
export interface Finding {
  /** The part that was checked: `state folder`, `clock`, … */
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly what: string
  /** What to do; null when nothing is to be done, or `what` says it. */
  readonly advice: string | null
}

/** The part is as it must be, or does not apply. */
export function ok(check: string, what: string): Finding {
  return { check, status: 'ok', what, advice: null }
}

/** The service works, and may not for long. */
export function warn(check: string, what: string, advice: string | null): Finding {
  return { check, status: 'warn', what, advice }
}

/** The service does not work, loses something or is open to others. */
export function fail(check: string, what: string, advice: string | null): Finding {
  return { check, status: 'fail', what, advice }
}

/** `fail  clock: … — …` */
export function findingLine({ check, status, what, advice }: Finding): string {
  const text = `${status.padEnd(4)}  ${check}: ${what}`
  return advice === null ? text : `${text} — ${advice}`
}

/** The message of what was thrown, in one line. */
export function reasonOf(cause: unknown): string {
  return oneLine(cause instanceof Error ? cause.message : String(cause))
}

/** The lines of a text as one. */
export function oneLine(text: string): string {
  return text
    .trim()
    .split(/\s*\n\s*/)
    .join('; ')
}
