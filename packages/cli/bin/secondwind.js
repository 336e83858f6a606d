#!/usr/bin/env node
// Committed, not built: npm links a command only if its file is there when it installs.
import { existsSync } from 'node:fs'

const OLDEST_MAJOR = 24
const MAIN = new URL('../dist/main.js', import.meta.url)

if (Number.parseInt(process.versions.node, 10) < OLDEST_MAJOR) {
  console.error(
    [
      `error node-too-old  secondwind needs Node ${OLDEST_MAJOR} or newer, and this is ${process.versions.node}`,
      '',
      '  In a clone, npm ci has brought the right one along on Linux and Windows.',
      '  do   npx secondwind --help',
      '  do   node_modules/.bin/node node_modules/.bin/secondwind --help',
    ].join('\n'),
  )
  process.exitCode = 1
} else if (!existsSync(MAIN)) {
  console.error('error not-built  this is a clone in which secondwind has not been built yet\n\n  do   npm run build')
  process.exitCode = 1
} else {
  await import(MAIN.href)
}
