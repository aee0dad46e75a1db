import type { FastifyBaseLogger } from 'fastify'
import type { Catalog } from '../../catalog.js'
import type { Clock } from '../../clock.js'
import type { Config } from '../../config.js'
import { keyOf } from '../../control/keys.js'
import type { ControlStore } from '../../control/store/store.js'
import type { LetterSender } from '../../sales/letters/letter-sender.js'
import { signInPlace } from '../../sales/agents/issuer.js'
import type { SignInPlace } from '../../sales/agents/issuer.js'
import { createSignIn } from '../../sales/agents/sign-in.js'
import type { SignIn } from '../../sales/agents/sign-in.js'

interface OpenSignInParts {
  readonly config: Config
  readonly control: ControlStore
  readonly folder: string
  readonly catalog: () => Catalog
  readonly clock: Clock
  /** Null when mail is off. */
  readonly letters: LetterSender | null
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

/** The sign-in of agents, and where they find it; the log says why they can't. */
export async function openSignIn(
  parts: OpenSignInParts,
): Promise<{ readonly signIn: SignIn; readonly signInPlace: SignInPlace }> {
  const { config, control, folder, catalog, clock, letters, logger } = parts
  const place = signInPlace(config)
  if (place.kind === 'none') {
    logger.info({ reason: place.reason }, 'agents need a token in a header: they cannot sign in')
  }
  const sendLetters = () => {
    letters?.send()
  }
  const key = await keyOf(control, folder, 'shop.key')
  const mailKey = await keyOf(control, folder, 'mail.key')
  const signIn = createSignIn({
    control,
    codes: { store: control, key, mailKey, now: clock.now, sendLetters },
    key: await keyOf(control, folder, 'client.key'),
    demoToken: () => catalog().demo?.token ?? null,
    takesDocuments: config.clientDocuments,
    isMailOn: letters !== null,
    clock,
    report: (cause) => {
      logger.warn({ err: cause }, "a client's document was not read")
    },
  })
  return { signIn, signInPlace: place }
}
