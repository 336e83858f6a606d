export interface WrongProgram {
  readonly path: string
  readonly text: string
}

/** What is wrong with the wrong programs: those the compiler accepts, or refuses in other words than expected. */
export function judge(programs: readonly WrongProgram[], compilerOutput: string): string[] {
  const said = errorsByFile(compilerOutput)
  const problems = programs.flatMap(program => judgeOne(program, said.get(program.path)))
  const ownPaths = new Set(programs.map(program => program.path))
  const elsewhere = [...said].filter(([path]) => !ownPaths.has(path))
  return [...problems, ...elsewhere.map(([path, errors]) => `${path}  must compile, but:\n${errors}`)]
}

function judgeOne({ path, text }: WrongProgram, errors: string | undefined): string[] {
  const expected = /^\/\/ expect: (.+)/.exec(text)?.[1]
  if (expected === undefined) return [`${path}:1  must begin with "// expect: <what the compiler says>"`]
  if (errors === undefined) return [`${path}:1  compiles, but must not; expected: ${expected}`]
  if (oneLine(errors).includes(oneLine(expected))) return []
  return [`${path}:1  expected: ${expected}\nbut the compiler says:\n${errors}`]
}

/** `path(line,column): error TS1234: message`, the lines that explain it further being indented. */
function errorsByFile(compilerOutput: string): Map<string, string> {
  const byFile = new Map<string, string>()
  let path = ''
  for (const line of compilerOutput.split(/\r?\n/)) {
    const begins = /^(\S.*?)\(\d+,\d+\): error /.exec(line) ?? /^()error /.exec(line)
    if (begins) path = begins[1]!.replaceAll('\\', '/')
    if (begins || line.startsWith(' ')) byFile.set(path, `${byFile.get(path) ?? ''}${line}\n`)
  }
  return byFile
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
