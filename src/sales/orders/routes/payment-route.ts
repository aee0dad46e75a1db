import { parsedJson } from '../../../text.js'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { Check } from 'typebox/value'
import { ServiceError, badRequest } from '../../../errors.js'
import { readBody } from '../../../http/body.js'
import { receivePayment } from '../receive-payment.js'
import type { Shop } from '../shop.js'
import { signedMessageId } from '../../webhook-signature.js'

export interface PaymentParts {
  readonly shop: Shop
  /** The signing secret, `whsec_` and base64; null = there is no such path. */
  readonly secret: string | null
  /** Counts a request without a token against its address. @throws rate_limit_exceeded */
  readonly admitVisitor: (address: string) => void
}

const PaymentSchema = Type.Object({
  order: Type.String({ pattern: '^ord_[0-9A-Za-z]{16}$' }),
  amount_rub: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  paid_at: Type.String({
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d)$',
  }),
})

const idLengthMax = 200

/**
 * Adds `POST /hooks/payment`: reports of payments, signed by the rules of Standard Webhooks
 * (standardwebhooks.com) at most five minutes ago. 204 = it is stored, whatever came of it.
 */
export function addPaymentHook(app: FastifyInstance, parts: PaymentParts): void {
  const { shop, secret, admitVisitor } = parts
  if (secret === null) return
  app.route({
    method: 'POST',
    url: '/hooks/payment',
    handler: async (request, reply) => {
      admitVisitor(request.ip)
      const body = await readBody(request, reply)
      const paymentId = signedMessageId(secret, request.headers, body, shop.now())
      if (paymentId === undefined) throw new ServiceError('forbidden', refusedText)
      if (paymentId.length > idLengthMax) {
        throw badRequest(`webhook-id must have at most ${idLengthMax} characters.`)
      }
      const { order, amount_rub: amountRub, paid_at: paidAt } = read(body)
      const reported = { paymentId, orderId: order, amountRub, paidAt: Date.parse(paidAt) }
      const outcome = await receivePayment(shop, reported).catch((cause: unknown) => {
        if (cause instanceof ServiceError && cause.code === 'conflict') {
          request.log.warn(
            { order, payment: paymentId },
            'a known webhook-id came with other content',
          )
        }
        throw cause
      })
      if (outcome !== 'confirmed') {
        request.log.warn({ order, outcome }, 'a payment confirmed no order; das order show has it')
      }
      return reply.code(204).send()
    },
  })
}

const refusedText = 'The signature is missing or wrong, or over five minutes old.'

/** @throws bad_request */
function read(body: Buffer): Type.Static<typeof PaymentSchema> {
  const content = parsedJson(body.toString('utf8'))
  if (Check(PaymentSchema, content) && !Number.isNaN(Date.parse(content.paid_at))) return content
  throw badRequest(
    'The body must be {"order": "ord_…", "amount_rub": 990, "paid_at": "2026-11-15T12:00:00Z"}.',
  )
}
