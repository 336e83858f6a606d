/**
 * Programs that must not compile. Each begins with `// expect: <text>`, and the compiler must say that text about
 * that file: a mistake is not only refused, it is refused with words that help.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { judge } from './wrong-programs/judge.ts'

let judged = 0
const problems: string[] = []

for (const project of globSync('packages/*/tsconfig.wrong.json')) {
  const folder = project.replace('tsconfig.wrong.json', 'src/type-tests/wrong')
  if (!existsSync(folder)) continue
  const programs = globSync(`${folder}/**/*.ts`).map(path => ({ path, text: readFileSync(path, 'utf8') }))
  // One compiler for all of them: it answers in the time it needs for one.
  const compiler = spawnSync(`tsc -p ${project} --pretty false`, { encoding: 'utf8', shell: true })
  problems.push(...judge(programs, compiler.stdout + compiler.stderr))
  judged += programs.length
}

for (const problem of problems) console.error(problem)
console.log(`${judged} wrong programs judged, ${problems.length} problems`)
process.exitCode = problems.length === 0 ? 0 : 1
