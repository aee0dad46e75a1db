import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/**
 * Writes programs that each run several compiled test files one after the other, and returns their
 * paths. A process spends a second on loading the product before its first test, so a process for
 * each file would spend most of its time on that.
 *
 * Each file is a subtest of its group: what it starts ends with it. Neighbours in the list go to
 * different groups, because the files of a folder are often slow together.
 */
export async function writeGroups(
  out: string,
  files: readonly string[],
  count: number,
): Promise<readonly string[]> {
  const folder = join(out, 'groups')
  await mkdir(folder, { recursive: true })
  const groups = Array.from({ length: Math.min(count, files.length) }, (_, index) => ({
    path: join(folder, `${index + 1}.js`),
    files: files.filter((_file, at) => at % count === index),
  }))
  await Promise.all(groups.map(({ path, files }) => writeFile(path, groupText(out, path, files))))
  return groups.map(({ path }) => path)
}

function groupText(out: string, path: string, files: readonly string[]): string {
  const parts = files.map((file) => {
    const name = relative(join(out, 'test'), file).replace(/\.test\.js$/, '')
    const from = relative(join(path, '..'), file)
    return `await runFile(${JSON.stringify(name)}, () => import(${JSON.stringify(from)}))`
  })
  return ["import { runFile } from 'tap'", ...parts, ''].join('\n')
}

/**
 * Puts a package before tap, where Node.js looks first: its `t` is the test of the file that runs,
 * the process's own where there is no group.
 */
export async function writeCurrentTest(out: string): Promise<void> {
  const folder = join(out, 'node_modules', 'tap')
  await mkdir(folder, { recursive: true })
  const manifest = { name: 'tap', type: 'module', exports: './index.js' }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  await writeFile(join(folder, 'index.js'), currentTestText(import.meta.resolve('tap')))
}

const currentTestText = (tap: string) => `import { t as root } from ${JSON.stringify(tap)}

let current = root

export const runFile = (name, load) =>
  root.test(name, async (t) => {
    current = t
    await load()
  })

export default new Proxy(root, {
  get: (_root, key) => {
    const value = current[key]
    return typeof value === 'function' ? value.bind(current) : value
  },
})
`
