import { readFileSync } from 'node:fs'

/** Of this program. */
export const VERSION: string = readVersion()

function readVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
