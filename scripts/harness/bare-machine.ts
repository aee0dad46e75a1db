import { existsSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { system } from './process.js'

/** The releases of Node.js and npm that a machine has. */
export interface Tools {
  readonly node: string
  readonly npm: string
}

/** All that there is beside Node.js and npm: no compiler. */
const others = ['sh', 'env', 'tar', 'uname']

/** Installs Node.js and npm in a folder; returns the folder of programs that is the whole PATH. */
export async function bareMachine(folder: string, { node, npm }: Tools): Promise<string> {
  const bin = join(folder, 'bin')
  await mkdir(bin, { recursive: true })
  const platform = `node-linux-${process.arch}`
  const packages = [`${platform}@${node}`, `npm@${npm}`]
  await system('npm', 'install', '--no-save', '--prefix', folder, ...packages)
  const modules = join(folder, 'node_modules')
  await symlink(join(modules, platform, 'bin', 'node'), join(bin, 'node'))
  for (const name of ['npm', 'npx']) {
    await symlink(join(modules, 'npm', 'bin', `${name}-cli.js`), join(bin, name))
  }
  for (const name of others) {
    const place = ['/usr/bin', '/bin'].find((each) => existsSync(join(each, name))) ?? ''
    await symlink(join(place, name), join(bin, name))
  }
  return bin
}
