/** A rule of the product is broken: the message is the counter-example. */
export class Fault extends Error {
  override readonly name = 'Fault'
}
