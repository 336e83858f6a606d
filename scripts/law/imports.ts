import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path/posix'
import { blank } from './blank.ts'

export interface Import {
  readonly kind: 'file' | 'ours' | 'node' | 'npm'
  /** In one spelling each: `service/src/task/accept.ts`, `@secondwind/resilience/testing`, `node:fs`, `npm:fastify`. */
  readonly target: string
  readonly line: number
  /** Gone before anything runs. `import { type X }` is not: the empty import stays. */
  readonly isType: boolean
}

const STATEMENT = /\b(?:import|export)\b(?<type>\s+type\b(?!\s*,|\s+from\b))?(?:[\s\w$*{},]*?\bfrom)?\s*(?<quote>['"])/
  .source
const CALL = /\b(?:import|require)\s*\(\s*(?<callQuote>['"`])/.source

export function importsOf(path: string, source: string): Import[] {
  const found = blank(source).matchAll(new RegExp(`${STATEMENT}|${CALL}`, 'g'))
  return Array.from(found, match => {
    const begin = match.index + match[0].length
    const quote = match.groups?.['quote'] ?? match.groups?.['callQuote'] ?? ''
    return {
      ...resolve(path, source.slice(begin, source.indexOf(quote, begin))),
      line: lineAt(source, match.index),
      isType: match.groups?.['type'] !== undefined,
    }
  })
}

/** Lines are counted from 1. */
export function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length
}

/** Rules speak of paths below packages/; what is elsewhere begins with `../`. */
export function place(path: string): string {
  return path.startsWith('packages/') ? path.slice('packages/'.length) : `../${path}`
}

function resolve(path: string, specifier: string): Pick<Import, 'kind' | 'target'> {
  if (specifier.startsWith('.')) return { kind: 'file', target: place(join(dirname(path), specifier)) }
  if (isBuiltin(specifier)) return { kind: 'node', target: `node:${specifier.replace('node:', '')}` }
  if (/^(?:@secondwind\/|secondwind(?:\/|$))/.test(specifier)) return { kind: 'ours', target: specifier }
  return { kind: 'npm', target: `npm:${specifier}` }
}
