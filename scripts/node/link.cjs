// Runs after `npm ci`, by any Node.js: puts the pinned one in front for npm scripts and npx. npm 11
// and 12 link it themselves; npm 10 loses the link with the packages for other platforms.
const { existsSync, rmSync, symlinkSync } = require('fs')
const { join } = require('path')
const { optionalDependencies } = require('./package.json')

const modules = join(__dirname, '..', '..', 'node_modules')
const link = join(modules, '.bin', 'node')
const pinned = Object.keys(optionalDependencies).find((name) => existsSync(join(modules, name)))

if (pinned !== undefined && !existsSync(link)) {
  rmSync(link, { force: true })
  symlinkSync(join('..', pinned, 'bin', 'node'), link)
}
