/** Replaces a member whose type the caller knows. */
export function replace(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, {
    value,
    configurable: true,
    writable: true,
    enumerable: true,
  })
}
