/** `npm run law`: who may import whom, and what each room may touch. The law itself is in law/rules.ts. */
import { globSync, readFileSync } from 'node:fs'
import { checkLaw } from './law/check.ts'

const SOURCES = [
  'packages/*/{src,smoke}/**/*.{ts,tsx,js}',
  'scripts/**/*.{ts,js}',
  'examples/**/*.{ts,js}',
  'docs/recipes/**/*.{ts,js}',
]

const files = read(SOURCES)
const violations = checkLaw(files, read(['packages/*/package.json']))
for (const { path, line, problem, why } of violations) console.error(`${path}:${line}  ${problem}  (why: ${why})`)
console.log(`${files.length} files, ${violations.length} violations`)
process.exitCode = violations.length === 0 ? 0 : 1

function read(patterns: readonly string[]): { path: string; text: string }[] {
  const paths = globSync(patterns).filter(path => !path.includes('node_modules'))
  return paths.map(path => ({ path: path.replaceAll('\\', '/'), text: readFileSync(path, 'utf8') }))
}
