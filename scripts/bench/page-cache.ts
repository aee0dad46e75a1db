import { writeFile } from 'node:fs/promises'

/** Makes the system forget the files that it has read: proc_sys_vm(5). Needs Linux and root. */
export function dropPageCache(): Promise<void> {
  return writeFile('/proc/sys/vm/drop_caches', '1')
}
