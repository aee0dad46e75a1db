/** Does the work as a user who is not root, whom permissions of files bind. */
export async function asUser<T>(work: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(12_345)
  try {
    return await work()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}
