import { domainToASCII, domainToUnicode } from 'node:url'

export const emailLengthMax = 254

/** One `@`; no space, control character or RFC 5322 special: one address, like no other one. */
export const emailPattern = /^[^\s\p{Cc}\p{Cf}@,;:<>()[\]"\\]+@[^\s\p{Cc}@,;:<>()[\]"\\]+$/u

/**
 * An address with its domain in one form; null for what is no address. A mail server gets domains
 * as DNS writes them, so many spellings reach one mailbox: `example。org`, a letter of another
 * width, an invisible one, `xn--…`. Limits of an address must count them as one.
 */
export function plainEmail(text: string): string | null {
  const at = text.indexOf('@')
  if (text.length > emailLengthMax || !emailPattern.test(text)) return null
  const domain = plainDomain(text.slice(at + 1))
  return domain === null ? null : text.slice(0, at + 1) + domain
}

/** Names of RFC 6761, 6762, 7686 and 9476 that lead to no public mail server. */
const localNames: readonly string[] = ['alt', 'internal', 'invalid', 'local', 'localhost', 'onion']

/**
 * Whether an address, as `plainEmail` returns it, has a public domain: a dot, and no name of the
 * own machine or network, nor a number, at its end.
 */
export function isMailDomain(email: string): boolean {
  const labels = email
    .slice(email.indexOf('@') + 1)
    .toLowerCase()
    .split('.')
  const last = labels.at(-1) ?? ''
  return labels.length > 1 && !localNames.includes(last) && !/^\d+$/.test(last)
}

/** ASCII letters keep their case, which nothing distinguishes. */
function plainDomain(domain: string): string | null {
  // A URL would end at these, or decode them.
  if (/[/?#%]/.test(domain)) return null
  const isPlain = /^\p{ASCII}+$/u.test(domain) && !/(^|\.)xn--/i.test(domain)
  const plain = isPlain ? domain : domainToUnicode(domainToASCII(domain))
  return plain.split('.').includes('') ? null : plain
}
