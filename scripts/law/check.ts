import { checkImports } from './check-imports.ts'
import { checkManifest } from './check-manifest.ts'
import { checkRooms } from './check-rooms.ts'
import { MAX_LINES, MAX_TEST_LINES, TEST } from './rules.ts'

/** `path` from the root of the repository, with forward slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

export interface Violation {
  readonly path: string
  readonly line: number
  readonly problem: string
  readonly why: string
}

/** Everything in these files that is against the law of rules.ts; `manifests` are the packages' package.json. */
export function checkLaw(files: readonly SourceFile[], manifests: readonly SourceFile[]): Violation[] {
  return [
    ...manifests.flatMap(checkManifest),
    ...files.flatMap(file => [...checkImports(file, manifests), ...checkRooms(file), ...checkLength(file)]),
  ]
}

function checkLength({ path, text }: SourceFile): Violation[] {
  const lines = text.trimEnd().split('\n').length
  const most = TEST.test(path) ? MAX_TEST_LINES : MAX_LINES
  if (lines <= most) return []
  return [{ path, line: most + 1, problem: `${lines} lines, ${most} at most`, why: 'one concept per file' }]
}
