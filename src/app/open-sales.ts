import type { Catalog } from '../catalog.js'
import { removeConnections } from '../control/connections/remove-connections.js'
import type { LetterState } from '../control/letters.js'
import type { Registry } from '../registry/registry.js'
import { Rounds } from '../rounds.js'
import { signInPlace } from '../sales/agents/issuer.js'
import type { SignInPlace } from '../sales/agents/issuer.js'
import { createSignIn } from '../sales/agents/sign-in.js'
import type { SignIn } from '../sales/agents/sign-in.js'
import type { CodeParts } from '../sales/codes.js'
import type { HostOptions } from '../sales/public-host.js'
import { WebhookSender } from '../sales/webhooks/webhook-sender.js'
import type { HasChanged } from '../sales/webhooks/webhook-sender.js'
import { LetterSender } from '../sales/letters/letter-sender.js'
import type { MailSettings } from '../sales/letters/mail-settings.js'
import type { Mailer } from '../sales/letters/mailer.js'
import { smtpMailer } from '../sales/letters/smtp.js'
import type { Shop } from '../sales/orders/shop.js'
import { tidyShop } from '../sales/orders/tidy-shop.js'
import { baseUrl } from '../service/first-questions.js'
import type { Records } from './records/file-records.js'
import type { ServerBase } from './server-base.js'

/** The parts of a server that earn; what runs is not started yet. */
export interface Sales {
  /** Null when mail is off. */
  readonly letters: LetterSender | null
  readonly shop: Shop
  readonly signIn: SignIn
  /** Where agents find the sign-in. */
  readonly signInPlace: SignInPlace
  readonly webhooks: WebhookSender
  /** What runs by itself: letters, webhooks, the removal of what is over. */
  readonly running: readonly Running[]
}

interface Running {
  readonly start: () => unknown
}

interface SalesParts {
  /** Null when mail is off: then nothing can be ordered. */
  readonly mail: MailSettings | null
  /** Over SMTP when left out. */
  readonly mailer: Mailer | undefined
  /** How receivers of webhooks are found; left out = public addresses only. */
  readonly receivers: HostOptions | undefined
  readonly records: Records
  /** The catalog and the registry that are served now. */
  readonly catalog: () => Catalog
  readonly registry: () => Registry
  readonly onAttempt: (end: LetterState) => void
  readonly hasChanged: HasChanged
}

const upkeepEveryMs = 60_000

/** Opens the letters, the shop and the sign-in of agents. */
export function openSales(base: ServerBase, parts: SalesParts): Sales {
  const { cleanup, clock } = base
  const { control, keys } = parts.records
  const letters = openLetters(base, parts)
  if (letters) cleanup.use(letters)
  const codes: CodeParts = {
    store: control,
    key: keys.shop,
    mailKey: keys.mail,
    now: clock.now,
    sendLetters: () => {
      letters?.send()
    },
  }
  const isMailOn = letters !== null
  const webhooks = cleanup.use(openWebhooks(base, parts))
  const upkeeps = openUpkeeps(base, parts.records).map((each) => cleanup.use(each))
  return {
    letters,
    shop: { ...codes, registry: parts.registry, isMailOn },
    signIn: openSignIn(base, parts, codes, isMailOn),
    signInPlace: findSignInPlace(base),
    webhooks,
    running: [...(letters ? [letters] : []), webhooks, ...upkeeps],
  }
}

function openLetters(
  { config, clock, logger }: ServerBase,
  { mail, mailer, records, registry, onAttempt }: SalesParts,
): LetterSender | null {
  if (mail === null) return null
  const address = baseUrl(config)
  if (config.publicUrl === null) {
    logger.warn({ address }, 'links in letters use this address; set DAS_PUBLIC_URL to change it')
  }
  return new LetterSender({
    store: records.control,
    jobs: records.jobs,
    key: records.keys.mail,
    clock,
    logger,
    base: address,
    mailer: mailer ?? smtpMailer(mail.smtp, mail.sender, clock),
    registry,
    onAttempt,
  })
}

function openWebhooks(
  { clock, logger }: ServerBase,
  { records, catalog, receivers, hasChanged }: SalesParts,
): WebhookSender {
  return new WebhookSender({
    store: records.control,
    jobs: records.jobs,
    key: records.keys.mail,
    clock,
    logger,
    catalog,
    hosts: receivers,
    hasChanged,
  })
}

function openSignIn(
  { config, clock, logger }: ServerBase,
  { records, catalog }: SalesParts,
  codes: CodeParts,
  isMailOn: boolean,
): SignIn {
  return createSignIn({
    control: records.control,
    codes,
    key: records.keys.client,
    demoToken: () => catalog().demo?.token ?? null,
    takesDocuments: config.clientDocuments,
    isMailOn,
    clock,
    report: (cause) => {
      logger.warn({ err: cause }, "a client's document was not read")
    },
  })
}

/** The log says why agents can't sign in. */
function findSignInPlace({ config, logger }: ServerBase): SignInPlace {
  const place = signInPlace(config)
  if (place.kind === 'none') {
    logger.info({ reason: place.reason }, 'agents need a token in a header: they cannot sign in')
  }
  return place
}

/** Of several servers, one does each of these at a time. */
function openUpkeeps({ clock, logger }: ServerBase, { control, jobs }: Records): readonly Rounds[] {
  const orders = new Rounds({
    every: clock.every,
    everyMs: upkeepEveryMs,
    work: async () => {
      if (await jobs.tryTake('orders')) await tidyShop({ store: control, now: clock.now })
    },
    report: (cause) => {
      logger.error({ err: cause }, 'tidying orders failed; the next round tries again')
    },
  })
  const connections = new Rounds({
    every: clock.every,
    everyMs: upkeepEveryMs,
    work: async () => {
      if (await jobs.tryTake('connections')) await removeConnections(control, clock.now())
    },
    report: (cause) => {
      logger.warn({ err: cause }, "what is left of agents' connections is not removed for now")
    },
  })
  return [orders, connections]
}
