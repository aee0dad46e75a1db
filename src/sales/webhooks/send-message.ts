import type { Clock } from '../../clock.js'
import { earlierSecretMs } from '../../control/hooks/webhooks.js'
import type { Webhook } from '../../control/hooks/webhooks.js'
import { signatureOf } from '../../signature.js'
import { HostError, askPublicHost } from '../public-host.js'
import type { HostOptions } from '../public-host.js'
import { secretOf, signMessage } from '../webhook-signature.js'

const timeoutMs = 10_000

/** What sends messages. */
export interface MessageParts {
  readonly clock: Clock
  /** The secrets of webhooks are made of it. */
  readonly key: Uint8Array
  /** How receivers are found; left out = public addresses only. */
  readonly hosts?: HostOptions | undefined
}

type Receiver = Pick<Webhook, 'webhookId' | 'url' | 'secretNumber' | 'secretChangedAt'>

/** What became of a message; `error` is null when it was received. */
export interface Receipt {
  /** Null without an answer. */
  readonly status: number | null
  readonly error: string | null
}

/** The secret of a webhook, or its one before; it is stored nowhere. */
export function webhookSecret(
  key: Uint8Array,
  { webhookId, secretNumber }: Pick<Webhook, 'webhookId' | 'secretNumber'>,
  back: 0 | 1 = 0,
): string {
  return secretOf(signatureOf(key, 'webhook', webhookId, '.', String(secretNumber - back)))
}

/**
 * Posts a message by the rules of Standard Webhooks 1.0 (standardwebhooks.com), to public addresses
 * only. Waits ten seconds for the answer and reads nothing of it but the status.
 */
export async function sendMessage(
  parts: MessageParts,
  receiver: Receiver,
  { id, type, data }: { readonly id: string; readonly type: string; readonly data: object },
  signal?: AbortSignal,
): Promise<Receipt> {
  const { clock, hosts } = parts
  const body = JSON.stringify({ type, data })
  const headers = {
    'Content-Type': 'application/json',
    ...signedHeaders(parts, receiver, id, body),
  }
  const asked = { method: 'POST', headers, body, timeoutMs, ...(signal && { signal }) }
  try {
    const answer = await askPublicHost(new URL(receiver.url), clock, asked, hosts)
    answer.on('error', () => undefined).destroy()
    return receiptOf(answer.statusCode ?? 0)
  } catch (cause) {
    return { status: null, error: failureText(cause) }
  }
}

function signedHeaders(
  { clock, key }: MessageParts,
  receiver: Receiver,
  id: string,
  body: string,
): Record<string, string> {
  const now = clock.now()
  const seconds = Math.floor(now / 1000)
  const { secretNumber, secretChangedAt } = receiver
  const isEarlierValid = secretNumber > 0 && now < secretChangedAt + earlierSecretMs
  const secrets = [
    webhookSecret(key, receiver),
    ...(isEarlierValid ? [webhookSecret(key, receiver, 1)] : []),
  ]
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': secrets.map((each) => signMessage(each, id, seconds, body)).join(' '),
  }
}

function receiptOf(status: number): Receipt {
  if (status >= 200 && status < 300) return { status, error: null }
  const isRedirect = status >= 300 && status < 400
  const why = isRedirect ? 'redirects are not followed' : 'a status of 2xx is expected'
  return { status, error: `the receiver answered ${status}: ${why}` }
}

/** Never holds an address: the text is shown and logged. */
function failureText(cause: unknown): string {
  if (cause instanceof HostError) return cause.message
  const { code, name } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {}
  if (name === 'AbortError' || name === 'TimeoutError') return 'no answer within 10 seconds'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the name of the host was not found'
  return `the connection failed (${code ?? 'unknown'})`
}
