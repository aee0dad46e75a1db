import { plainEmail } from '../../control/email-address.js'
import type { Registry } from '../../registry/registry.js'

/** Whether an address runs the shop, whatever the case of its ASCII letters. */
export function isOwner({ portal }: Registry, email: string): boolean {
  return portal.owners.some((owner) => sameCase(plainEmail(owner) ?? owner) === sameCase(email))
}

function sameCase(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** Who gets letters about orders: the owners, or else the contact of the shop; null = nobody. */
export function orderReaders({ portal, shop }: Registry): readonly string[] | string | null {
  return portal.owners.length > 0 ? portal.owners : shop.contact
}
