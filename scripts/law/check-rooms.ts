import { blank } from './blank.ts'
import type { SourceFile, Violation } from './check.ts'
import { importsOf, lineAt, place } from './imports.ts'
import { ROOMS, TEST, type Room } from './rules.ts'

/** What this file says or imports that its room may not. */
export function checkRooms(file: SourceFile): Violation[] {
  if (!file.path.startsWith('packages/') || TEST.test(file.path)) return []
  return ROOMS.filter(room => room.files.test(place(file.path)) && !room.except?.test(place(file.path))).flatMap(
    room => [...forbiddenTokens(room, file), ...forbiddenImports(room, file)],
  )
}

function forbiddenTokens({ name, tokens = [], why }: Room, { path, text }: SourceFile): Violation[] {
  const code = blank(text)
  return tokens.flatMap(({ say, pattern }) =>
    Array.from(code.matchAll(pattern), match => ({
      path,
      line: lineAt(text, match.index),
      problem: `${name} may not use ${say}`,
      why,
    })),
  )
}

function forbiddenImports({ name, imports = [], why }: Room, { path, text }: SourceFile): Violation[] {
  return importsOf(path, text).flatMap(({ target, line, isType }) =>
    imports
      .filter(ban => ban.path.test(`${place(path)} -> ${target}`) && !(ban.typesAllowed && isType))
      .map(ban => ({ path, line, problem: `${name} may not import ${ban.say}: ${target}`, why })),
  )
}
