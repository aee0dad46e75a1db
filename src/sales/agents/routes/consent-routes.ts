import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorStatus, ServiceError } from '../../../errors.js'
import { CodeRefusal } from '../../form-refusal.js'
import { answerLocation } from '../authorize-request.js'
import type { AuthorizeRequest } from '../authorize-request.js'
import { OAuthError } from '../oauth-error.js'
import { readParameters } from '../parameters.js'
import type { OAuthParameters } from '../parameters.js'
import { signInPaths } from '../resource.js'
import type { SignIn } from '../sign-in.js'
import { readBody } from '../../../http/body.js'
import { queryOf } from '../../../http/request-context.js'
import { isOwnPage } from '../../../portal/own-page.js'
import { pageContextOf } from '../../../portal/page-context.js'
import type { PageContext, Site } from '../../../portal/page-context.js'
import { reading, sendPage } from '../../../portal/send-page.js'
import { consentPage, problemPage } from './consent-page.js'
import type { ConsentProblem, ConsentRefusal, ConsentStep } from './consent-page.js'
import { shopWordsOf } from '../../orders/routes/shop-words.js'
import { consentWords } from './consent-words.js'

export interface ConsentParts {
  readonly signIn: SignIn
  /** The issuer for a request with this `Host`; null where agents can't sign in. */
  readonly issuerFor: (host: string | undefined) => string | null
  readonly site: Site
}

/**
 * No `form-action`: browsers apply it to the whole chain of redirects after the form, and the agent
 * is at the end of it. With `no-referrer` they would send the form with `Origin: null`.
 */
const pageHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; " +
    "frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const

const formBytesMax = 4096

/** One request of a person's browser. */
interface Visit {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly issuer: string
  readonly context: PageContext
}

/** Answers a visit that comes with a request that was checked. */
type AnswerVisit = (visit: Visit, asked: AuthorizeRequest) => Promise<FastifyReply>

/** Adds the page where people connect agents. */
export function addConsent(app: FastifyInstance, parts: ConsentParts): void {
  const handlerOf =
    (answer: AnswerVisit) => async (request: FastifyRequest, reply: FastifyReply) => {
      const issuer = parts.issuerFor(request.headers.host)
      if (issuer === null) return reply.callNotFound()
      const visited = { request, reply, issuer, context: contextOf(request, parts.site) }
      try {
        const asked = await parts.signIn.readRequest(queryOf(request), issuer, request.ip)
        return await answer(visited, asked)
      } catch (cause) {
        return sendProblem(visited, cause)
      }
    }
  app.route({
    method: reading,
    url: signInPaths.authorize,
    handler: handlerOf(async (visit, asked) =>
      sendConsent(parts, visit, asked, { kind: 'begin', problem: null }),
    ),
  })
  app.route({
    method: 'POST',
    url: signInPaths.authorize,
    config: { takesForm: true },
    handler: handlerOf((visit, asked) => answerForm(parts, visit, asked)),
  })
}

function sendConsent(
  { signIn }: ConsentParts,
  { request, reply, context }: Visit,
  asked: AuthorizeRequest,
  step: ConsentStep,
): FastifyReply {
  const content = { request: asked, demoToken: signIn.demoToken(), isMailOn: signIn.isMailOn, step }
  return sendPage(request, reply, context, consentPage(context, content), pageHeaders)
}

async function answerForm(
  parts: ConsentParts,
  visit: Visit,
  asked: AuthorizeRequest,
): Promise<FastifyReply> {
  const { request, reply } = visit
  if (!isOwnPage(request, visit.issuer)) {
    return sendProblemPage(visit, 403, { kind: 'foreign', detail: null })
  }
  const form = readParameters((await readBody(request, reply, formBytesMax)).toString())
  const answer = form.optional('answer')
  if (answer === 'cancel') return sendTo(reply, answerLocation(asked, { error: 'access_denied' }))
  const sent: SentForm = { ...parts, visit, asked, form }
  const { isMailOn } = parts.signIn
  if (isMailOn && answer === 'mail') return await mailCode(sent)
  return isMailOn && answer === 'code' ? await takeCode(sent) : await takeToken(sent)
}

/** A form of the page, as it was sent. */
interface SentForm extends ConsentParts {
  readonly visit: Visit
  readonly asked: AuthorizeRequest
  readonly form: OAuthParameters
}

async function takeToken(sent: SentForm): Promise<FastifyReply> {
  const { signIn, visit, asked, form } = sent
  const { request, reply, context } = visit
  const result = await signIn.connect(asked, form.optional('token') ?? '', request.ip)
  const words = consentWords(context.language)
  switch (result.kind) {
    case 'connected':
      return sendTo(reply, result.location)
    case 'wrong token':
      void reply.code(400)
      return sendBegin(sent, { field: 'token', text: words.wrongToken })
    case 'too many':
      return sendWait(sent, 'token', result.waitSeconds)
  }
}

async function mailCode(sent: SentForm): Promise<FastifyReply> {
  const { signIn, visit, asked, form } = sent
  const { request, context } = visit
  const email = (form.optional('email') ?? '').trim()
  const visitor = { email, language: context.language, address: request.ip }
  try {
    const codeId = await signIn.mailCode(asked, visitor)
    return sendConsent(sent, visit, asked, { kind: 'code', codeId, note: { sentTo: email } })
  } catch (cause) {
    return sendBegin(sent, { field: 'email', text: refusalText(visit, cause) })
  }
}

async function takeCode(sent: SentForm): Promise<FastifyReply> {
  const { signIn, visit, asked, form } = sent
  const typed = { codeId: form.optional('id') ?? '', code: form.optional('code') ?? '' }
  try {
    const result = await signIn.connectByCode(asked, typed, form.optional('subscription'))
    switch (result.kind) {
      case 'connected':
        return sendTo(visit.reply, result.location)
      case 'too many':
        return sendWait(sent, 'email', result.waitSeconds)
      case 'choose': {
        const { subscriptions } = result
        if (subscriptions.length > 0) {
          return sendConsent(sent, visit, asked, { kind: 'choose', typed, subscriptions })
        }
        const text = consentWords(visit.context.language).nothingFound
        return sendBegin(sent, { field: 'email', text })
      }
    }
  } catch (cause) {
    const note = { problem: refusalText(visit, cause) }
    return sendConsent(sent, visit, asked, { kind: 'code', codeId: typed.codeId, note })
  }
}

/** Sets the status of a refusal, and returns its text for the page. */
function refusalText({ reply, context }: Visit, cause: unknown): string {
  if (!(cause instanceof CodeRefusal)) throw cause
  const { code, reason, retryAfterSeconds } = cause
  void reply.code(errorStatus[code])
  if (retryAfterSeconds !== undefined) void reply.header('Retry-After', retryAfterSeconds)
  return shopWordsOf(context.language).refusals[reason]
}

function sendBegin(sent: SentForm, problem: ConsentRefusal): FastifyReply {
  return sendConsent(sent, sent.visit, sent.asked, { kind: 'begin', problem })
}

function sendWait(sent: SentForm, field: ConsentRefusal['field'], seconds: number): FastifyReply {
  const { reply, context } = sent.visit
  void reply.code(429).header('Retry-After', String(seconds))
  return sendBegin(sent, { field, text: consentWords(context.language).tooMany(seconds) })
}

/** The page has no script and reads no cookie. */
function contextOf(request: FastifyRequest, site: Site): PageContext {
  site.admitVisitor(request.ip)
  const context = pageContextOf({ ...site, assets: { ...site.assets, script: null } }, request)
  return { ...context, canSignIn: false }
}

/** With 303 the browser does not send the form, and the token in it, to the agent. */
function sendTo(reply: FastifyReply, location: string): FastifyReply {
  return reply
    .code(303)
    .headers({ ...pageHeaders, Location: location })
    .send()
}

/** Only a page, never a redirect: the request's addresses are not to be trusted. */
function sendProblem(visit: Visit, cause: unknown): FastifyReply {
  if (cause instanceof OAuthError) {
    const isLater = cause.code === 'temporarily_unavailable'
    const kind = isLater ? 'later' : 'refused'
    return sendProblemPage(visit, isLater ? 503 : 400, { kind, detail: cause.description })
  }
  if (!(cause instanceof ServiceError) || cause.code !== 'service_unavailable') throw cause
  visit.request.log.error({ err: cause.cause ?? cause }, cause.code)
  return sendProblemPage(visit, 503, { kind: 'later', detail: null })
}

function sendProblemPage(
  { request, reply, context }: Visit,
  status: number,
  problem: ConsentProblem,
): FastifyReply {
  const page = problemPage(context, problem)
  return sendPage(request, reply.code(status), context, page, pageHeaders)
}
