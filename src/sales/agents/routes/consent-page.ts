import type { Language } from '../../../config.js'
import type { Subscription } from '../../../control/subscriptions.js'
import type { TypedCode } from '../../codes.js'
import type { AuthorizeRequest } from '../authorize-request.js'
import type { RedirectTarget } from '../../../control/connections/redirect-target.js'
import { html } from '../../../portal/html.js'
import type { Html } from '../../../portal/html.js'
import type { PageContext } from '../../../portal/page-context.js'
import { titledPage } from '../../../portal/titled-page.js'
import { lostTokenLink, subscriptionFields } from '../../orders/routes/lost-token-pages.js'
import { codeFields, emailField } from '../../orders/routes/order-pages.js'
import { shopWordsOf } from '../../orders/routes/shop-words.js'
import { consentWords } from './consent-words.js'
import type { ConsentWords } from './consent-words.js'

/** How far a person has come. */
export type ConsentStep =
  | {
      readonly kind: 'begin'
      /** Why the last attempt did not connect; null at first. */
      readonly problem: ConsentRefusal | null
    }
  | CodeStep
  | ChooseStep

export interface ConsentRefusal {
  readonly field: 'token' | 'email'
  readonly text: string
}

/** A code was mailed: the same for every address. */
interface CodeStep {
  readonly kind: 'code'
  readonly codeId: string
  /** Where the code was sent, or why the typed one is not accepted. */
  readonly note: { readonly sentTo: string } | { readonly problem: string }
}

/** The code is right, and its address has several subscriptions. */
interface ChooseStep {
  readonly kind: 'choose'
  readonly typed: TypedCode
  readonly subscriptions: readonly Subscription[]
}

interface ConsentContent {
  readonly request: AuthorizeRequest
  /** The public demo token; null without a demo. */
  readonly demoToken: string | null
  /** Whether codes can be mailed. */
  readonly isMailOn: boolean
  readonly step: ConsentStep
}

/** Renders the page where a person connects an agent. It works without script. */
export function consentPage(context: PageContext, content: ConsentContent): string {
  const words = consentWords(context.language)
  const { client, target } = content.request
  const isForeign = client.host !== null && !(target.kind === 'site' && target.host === client.host)
  return titledPage(
    context,
    words.title,
    html`<p class="lead">${client.name === '' ? words.asksUnnamed : words.asks(client.name)}</p>
      ${client.name === '' ? null : html`<p class="muted">${words.unverified}</p>`}
      <p>${words.goesTo}</p>
      <p class="receiver"><strong>${receiverText(words, target)}</strong></p>
      ${target.kind === 'site' ? null : html`<p>${words.onlyIfStarted}</p>`}
      ${isForeign ? html`<p>${words.describedBy(client.host ?? '')}</p>` : null}
      <p>${words.costs}</p>
      ${stepForms(context, content)}`,
  )
}

function stepForms(context: PageContext, content: ConsentContent): readonly (Html | null)[] {
  const { step, isMailOn } = content
  switch (step.kind) {
    case 'begin':
      return [
        tokenForm(context, content, step.problem),
        isMailOn ? emailForm(context, step.problem) : null,
        lostTokenLink(context, isMailOn),
      ]
    case 'code':
      return [codeForm(context, step)]
    case 'choose':
      return [chooseForm(context, step)]
  }
}

/** Like all forms here, it posts to the address of the page, which holds the whole request. */
function tokenForm(
  { language }: PageContext,
  { demoToken }: Pick<ConsentContent, 'demoToken'>,
  problem: ConsentRefusal | null,
): Html {
  const words = consentWords(language)
  const isWrong = problem?.field === 'token'
  const describedBy = isWrong ? 'token-problem token-help' : 'token-help'
  return html`<form method="post" class="question">
    <p><label for="token">${words.token}</label></p>
    <p>
      <input
        id="token"
        name="token"
        type="password"
        autocomplete="off"
        spellcheck="false"
        maxlength="200"
        aria-describedby="${describedBy}"
        ${isWrong ? html`aria-invalid="true"` : null}
        required
      />
    </p>
    ${
      isWrong
        ? html`<p id="token-problem" class="status error" role="alert">${problem.text}</p>`
        : null
    }
    <p id="token-help" class="muted">${words.whereToken}</p>
    ${
      demoToken === null
        ? null
        : html`<p class="muted">${words.tryDemo} <code>${demoToken}</code></p>`
    }
    ${buttons(language, 'connect')}
  </form>`
}

/** For a person who has no token at hand. */
function emailForm(context: PageContext, problem: ConsentRefusal | null): Html {
  const words = consentWords(context.language)
  return html`<h2>${words.noToken}</h2>
    <p>${words.byMail}</p>
    <form method="post" class="order">
      ${problem?.field === 'email' ? problemNote(problem.text) : null}
      ${emailField(context, '', words.emailHint)}
      <p><button name="answer" value="mail">${shopWordsOf(context.language).sendCode}</button></p>
    </form>`
}

function codeForm(context: PageContext, { codeId, note }: CodeStep): Html {
  const say = shopWordsOf(context.language)
  const words = consentWords(context.language)
  return html`<h2>${say.codeTitle}</h2>
    ${
      'problem' in note
        ? problemNote(note.problem)
        : html`<p>${say.codeText(note.sentTo)} ${words.noLetter}</p>`
    }
    <form method="post" class="order">
      ${codeFields(context, codeId)} ${buttons(context.language, 'code')}
    </form>
    <p><a href="${context.languageLink(context.language)}">${say.again}</a></p>`
}

function chooseForm(context: PageContext, { typed, subscriptions }: ChooseStep): Html {
  const words = consentWords(context.language)
  return html`<form method="post" class="order">
    ${subscriptionFields(context, { typed, subscriptions, legend: words.choose })}
    ${buttons(context.language, 'code')}
  </form>`
}

function problemNote(text: string): Html {
  return html`<p class="status error" role="alert">${text}</p>`
}

function buttons(language: Language, answer: 'connect' | 'code'): Html {
  const words = consentWords(language)
  return html`<div class="line">
    <button name="answer" value="${answer}" class="primary">${words.connect}</button>
    <button name="answer" value="cancel" formnovalidate>${words.cancel}</button>
  </div>`
}

function receiverText(words: ConsentWords, target: RedirectTarget): string {
  switch (target.kind) {
    case 'site':
      return target.host
    case 'computer':
      return words.computer
    case 'app':
      return words.app(target.scheme)
  }
}

/** Why nothing is connected. */
export interface ConsentProblem {
  readonly kind: 'refused' | 'later' | 'foreign'
  /** For the developer of the agent, in English. */
  readonly detail: string | null
}

/** Renders the page for a request that is not answered. */
export function problemPage(context: PageContext, { kind, detail }: ConsentProblem): string {
  const words = consentWords(context.language)
  const title = kind === 'later' ? words.later : words.refused
  const texts = { refused: words.refusedText, later: words.laterText, foreign: words.foreign }
  return titledPage(
    context,
    title,
    html`<p class="lead">${texts[kind]}</p>
      ${
        detail === null ? null : html`<p>${words.forDeveloper} <span lang="en">${detail}</span></p>`
      }`,
  )
}
