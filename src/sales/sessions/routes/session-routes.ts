import type { FastifyInstance, FastifyReply } from 'fastify'
import Type from 'typebox'
import { Check } from 'typebox/value'
import { unauthorized } from '../../../access/principal.js'
import { cookieHeader, sessionCookieAt, sessionSecret } from '../../../access/session-cookie.js'
import type { SessionKind } from '../../../control/sessions/sessions.js'
import { badRequest, notFound } from '../../../errors.js'
import type { PathCondition } from '../../../http/known-paths.js'
import { queryOf } from '../../../http/request-context.js'
import { visit } from '../../../portal/page-context.js'
import type { Site } from '../../../portal/page-context.js'
import { formHeaders, reading, sendPage } from '../../../portal/send-page.js'
import { isoTime, parsedJson } from '../../../text.js'
import { ShopRefusal } from '../../orders/refusals.js'
import { addForm, readOwn, refusalOf } from '../../orders/routes/read-form.js'
import type { SentForm } from '../../orders/routes/read-form.js'
import type { Shop } from '../../orders/shop.js'
import { ownPath } from '../own-path.js'
import { finishSignIn, keepPayer, makeAccess, signOut, startSignIn } from '../sign-in.js'
import { signInCodePage, signInPage } from './sign-in-pages.js'
import type { SignInPath } from './sign-in-pages.js'

interface SessionRouteParts {
  readonly site: Site
  readonly shop: Shop
}

/** A form of this site, and the secret in the cookie that came with it. */
interface PersonForm extends SentForm {
  readonly secret: string | null
}

/** One of the forms with which a session begins. */
interface SignInForm extends PersonForm {
  readonly kind: SessionKind
  readonly path: SignInPath
}

const AccessSchema = Type.Object({ subscription: Type.String({ maxLength: 200 }) })

/** Adds the page on which people sign in, and what a session does besides showing pages. */
export function addSessions(app: FastifyInstance, parts: SessionRouteParts): void {
  const { site, shop } = parts
  app.route({
    method: reading,
    url: '/sign-in',
    handler: async (request, reply) => {
      const context = await visit(site, request)
      const next = ownPath(new URLSearchParams(queryOf(request)).get('next') ?? '')
      const page = signInPage(context, { email: '', next, refusal: null })
      return sendPage(request, reply, context, page, formHeaders)
    },
  })
  const add = (url: string, answer: (sent: PersonForm) => Promise<FastifyReply>) => {
    addForm(app, site, url, (sent) => answer({ ...sent, secret: secretOf(sent) }))
  }
  addSignInForms(app, parts, '/sign-in')
  for (const [url, extent] of [
    ['/sign-out', 'here'],
    ['/sign-out/everywhere', 'everywhere'],
  ] as const) {
    add(url, async (sent) => {
      if (sent.secret !== null) await signOut(shop, sent.secret, extent)
      return sendOn(sent, '/', null)
    })
  }
  add('/session/payer', async (sent) => {
    const { secret, fields } = sent
    if (secret !== null) await keepPayer(shop, secret, fields.get('subscription') ?? '')
    return sendOn(sent, ownPath(fields.get('next') ?? ''))
  })
  addAccess(app, parts)
}

/** The forms for address and code; `condition` says when these paths exist. */
export function addSignInForms(
  app: FastifyInstance,
  { site, shop }: SessionRouteParts,
  path: SignInPath,
  condition: PathCondition = {},
): void {
  const kind = path === '/sign-in' ? 'subscriber' : 'owner'
  const add = (url: string, answer: typeof mailCode) => {
    const answerForm = (sent: SentForm) =>
      answer(shop, { ...sent, secret: secretOf(sent, kind), kind, path })
    addForm(app, site, url, answerForm, condition)
  }
  add(path, mailCode)
  add(`${path}/code`, takeCode)
}

/** The secret of an hour that scripts of the portal send to REST. */
function addAccess(app: FastifyInstance, { site, shop }: SessionRouteParts): void {
  app.route({
    method: 'POST',
    url: '/session/access',
    config: { cors: false },
    handler: async (request, reply) => {
      const context = await visit(site, request)
      const body = parsedJson((await readOwn(site, request, reply)).toString('utf8'))
      if (!Check(AccessSchema, body)) throw badRequest('The body is not what a page sends.')
      const secret = secretOf({ context, request })
      const made =
        secret === null ? 'no session' : await makeAccess(shop, secret, body.subscription)
      if (made === 'no session') throw unauthorized()
      if (made === 'no subscription') {
        throw notFound('This address has no such live subscription.')
      }
      return { access: made.access, expires_at: isoTime(made.expiresAt) }
    },
  })
}

async function mailCode(shop: Shop, sent: SignInForm): Promise<FastifyReply> {
  const { context, fields, kind, path } = sent
  const [email, next] = ['email', 'next'].map((name) => (fields.get(name) ?? '').trim())
  const visitor = { email: email ?? '', language: context.language, address: sent.request.ip }
  try {
    if (!context.canSignIn) throw new ShopRefusal('closed')
    const codeId = await startSignIn(shop, visitor, next ?? '', kind)
    return send(sent, signInCodePage(context, codeId, { email: visitor.email }, path))
  } catch (cause) {
    const refusal = refusalOf(sent.reply, cause)
    const shown = { email: visitor.email, next: next ?? '', refusal }
    return send(sent, signInPage(context, shown, path))
  }
}

async function takeCode(shop: Shop, sent: SignInForm): Promise<FastifyReply> {
  const { context, fields, secret: earlier, kind, path } = sent
  const typed = { codeId: fields.get('id') ?? '', code: fields.get('code') ?? '' }
  try {
    const { secret, next } = await finishSignIn(shop, typed, earlier, kind)
    return sendOn(sent, next, secret, kind)
  } catch (cause) {
    const refusal = refusalOf(sent.reply, cause)
    return send(sent, signInCodePage(context, typed.codeId, { refusal }, path))
  }
}

/** The secret in the cookie of a request. */
export function secretOf(
  { context, request }: Pick<SentForm, 'context' | 'request'>,
  kind?: SessionKind,
): string | null {
  return sessionSecret(context.base, request.headers.cookie, kind)
}

function send({ request, reply, context }: SentForm, page: string): FastifyReply {
  return sendPage(request, reply, context, page, formHeaders)
}

/** Leads to a page of this site, and gives the browser a secret, takes it away, or neither. */
export function sendOn(
  { reply, context }: SentForm,
  path: string,
  secret?: string | null,
  kind?: SessionKind,
): FastifyReply {
  const cookie = sessionCookieAt(context.base, kind)
  if (cookie && secret !== undefined) void reply.header('Set-Cookie', cookieHeader(cookie, secret))
  return reply
    .code(303)
    .headers({ ...formHeaders, Location: `${context.root}${path}` })
    .send()
}
