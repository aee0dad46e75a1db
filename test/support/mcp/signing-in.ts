import { createHash } from 'node:crypto'

/** What a person's browser is told after the form. */
export interface FormAnswer {
  readonly status: number
  readonly location: string | null
  readonly text: string
}

/** Sends the form of the consent page as a browser does. */
export async function sendConsent(
  url: string | URL,
  token: string,
  answer = 'connect',
): Promise<FormAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { Origin: new URL(url).origin, 'Sec-Fetch-Site': 'same-origin' },
    body: new URLSearchParams({ token, answer }),
  })
  return {
    status: response.status,
    location: response.headers.get('location'),
    text: await response.text(),
  }
}

/** A PKCE challenge of a verifier. */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}
