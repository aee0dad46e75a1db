import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { challengeOf, sendConsent } from '../../../test/support/mcp/signing-in.js'
import { takeLetter } from './postfix.js'

/** A server with a shop whose letters to buyer and owner come to one maildir. */
export interface Shopping {
  readonly base: string
  readonly maildir: string
  /** Runs a command that must succeed; what it printed. */
  readonly das: (...argv: readonly string[]) => Promise<string>
}

type Language = 'en' | 'ru'

/** The address that orders. */
const email = 'buyer@example.org'
const plan = 'financials:start'
const priceRub = 990

/** The subjects of the letters. */
const subjects = {
  code: { en: /^Your code for /, ru: /^Ваш код для / },
  received: { en: /^Your order ord_\w+: how to pay$/, ru: /^Ваш заказ ord_\w+: как оплатить$/ },
  notice: { en: /^New order ord_\w+: 990 RUB$/, ru: /^Новый заказ ord_\w+: 990 ₽$/ },
  declined: { en: /^Your order ord_\w+ was declined$/, ru: /^Ваш заказ ord_\w+ отклонён$/ },
  access: { en: /^Your access to /, ru: /^Ваш доступ: / },
  confirmed: { en: /^Your order for .* is in effect$/, ru: /^Заказ выполнен, открыт доступ/ },
  connected: { en: /^An agent was connected to /, ru: /^Агент получил доступ/ },
  reissued: { en: /^A new token for /, ru: /^Новый токен для доступа/ },
} as const
type Kind = keyof typeof subjects

const Confirmed = Type.Object({ subscription: Type.String() })
const Registered = Type.Object({ client_id: Type.String() })

/**
 * Buys, renews, connects an agent, orders what is declined, and loses the token: every letter about
 * it must come, in this language, and the tokens in them must work. Returns their subjects.
 */
export async function readShopLetters(
  shopping: Shopping,
  language: Language,
): Promise<readonly string[]> {
  const { base, das } = shopping
  const subjectsFound: string[] = []
  const take = async (kind: Kind) => {
    const { subject = '', text = '' } = await takeLetter(shopping.maildir, subjects[kind][language])
    subjectsFound.push(subject)
    return text
  }
  const post = (path: string, fields: Readonly<Record<string, string>>) =>
    sendForm(`${base}${path}?lang=${language}`, fields)
  const codeFor = async (page: string) => ({
    id: found(/name="id" value="(\w+)"/, page),
    code: found(/^ {4}(\d{8})$/m, await take('code')),
  })
  const ordered = async () => {
    const order = found(/(ord_\w{16})/, await take('received'))
    found(new RegExp(`(das order confirm ${order})`), await take('notice'))
    return order
  }
  const renew = (token: string) =>
    post('/account', { token, act: 'order', months: '1', amount: String(priceRub) })

  const typed = await codeFor(await post('/order', { email, plan, months: '1' }))
  await post('/order/code', typed)
  const confirmed = await das('order', 'confirm', await ordered(), '--json')
  const { subscription } = Value.Parse(Confirmed, JSON.parse(confirmed))
  const token = await workingToken(base, await take('access'))

  await renew(token)
  await das('order', 'confirm', await ordered())
  await take('confirmed')
  await renew(token)
  await das('order', 'decline', await ordered())
  await take('declined')
  await connectAgent(base, token)
  await take('connected')

  const again = await codeFor(await post('/lost-token', { email }))
  await post('/lost-token/code', again)
  await post('/lost-token/reissue', { ...again, subscription, earlier: 'end' })
  await workingToken(base, await take('reissued'))
  return subjectsFound
}

/** The token of a letter. @throws Error where it does not work */
async function workingToken(base: string, letter: string): Promise<string> {
  const token = found(/(das_live_\w{49})/, letter)
  await good(await fetch(`${base}/v1/`, { headers: { authorization: `Bearer ${token}` } }))
  return token
}

/** Registers an agent, agrees on its page with the token, and takes its secrets. */
async function connectAgent(base: string, token: string): Promise<void> {
  const redirect = 'https://agent.example/callback'
  const registered = await sendJson(`${base}/register`, token, {
    client_name: 'Agent',
    redirect_uris: [redirect],
  })
  const { client_id: client } = Value.Parse(Registered, JSON.parse(registered))
  const verifier = 'a-verifier-of-43-characters-or-more-for-a-check-of-mail'
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client,
    redirect_uri: redirect,
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
  })
  const { location } = await sendConsent(`${base}/authorize?${query.toString()}`, token)
  await sendForm(`${base}/token`, {
    grant_type: 'authorization_code',
    client_id: client,
    redirect_uri: redirect,
    code: found(/[?&]code=([^&]+)/, location ?? ''),
    code_verifier: verifier,
  })
}

function sendForm(url: string, fields: Readonly<Record<string, string>>): Promise<string> {
  const headers = { origin: new URL(url).origin, 'sec-fetch-site': 'same-origin' }
  return fetch(url, { method: 'POST', headers, body: new URLSearchParams(fields) }).then(good)
}

function sendJson(url: string, token: string, body: unknown): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }).then(good)
}

async function good(answer: Response): Promise<string> {
  const text = await answer.text()
  if (answer.ok) return text
  throw new Error(`${new URL(answer.url).pathname} answers ${answer.status}: ${text.slice(0, 500)}`)
}

function found(pattern: RegExp, text: string): string {
  const [, value] = pattern.exec(text) ?? []
  if (value !== undefined) return value
  throw new Error(`there is no ${String(pattern)} in: ${text.slice(0, 500)}`)
}
