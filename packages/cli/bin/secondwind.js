#!/usr/bin/env node
// Committed, not built: npm links a command only if its file is there when it installs.
const OLDEST_MAJOR = 24

if (Number.parseInt(process.versions.node, 10) < OLDEST_MAJOR) {
  console.error(`error node-too-old  secondwind needs Node ${OLDEST_MAJOR} or newer, and this is ${process.version}`)
  process.exitCode = 1
} else {
  await import('../dist/main.js')
}
