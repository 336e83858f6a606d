import type { Service } from '@secondwind/service'
import { typed } from '../input/typed.ts'
import { DEFAULT_URL } from '../remote/connection.ts'
import { asTypedHere } from './program-name.ts'

/** Where it listens, where the data is, and a line that works when pasted. */
export function introduce({ url, openAt, store, version, hasKeys }: Service, isDevelopment: boolean): string {
  const lines = [
    '',
    `  secondwind ${isDevelopment ? 'dev' : 'serve'} ${version}`,
    '',
    `  API        ${url}`,
    ...(openAt === undefined ? [] : [`  Open       to other machines: it listens on ${openAt}, without TLS`]),
    `  Data       ${store}`,
    `  Keys       ${hasKeys ? 'every request needs one' : 'none: loopback only'}`,
    ...(isDevelopment ? practice(url, hasKeys) : []),
    '',
  ]
  return `${lines.join('\n')}\n`
}

/** For this very service. */
function typedFor(url: string, ...words: readonly string[]): string {
  return asTypedHere(typed([...words, ...(url === DEFAULT_URL ? [] : ['--url', url])]))
}

function practice(url: string, hasKeys: boolean): readonly string[] {
  return [
    `  Practice   ${url}/_flaky/503x2   answers 503 twice, then 200`,
    `  Watch      ${typedFor(url, 'tasks', 'watch')}`,
    '',
    '  Try it in another terminal; the task succeeds at its third attempt:',
    '',
    `  curl -X POST ${url}/retry-tasks -H 'content-type: application/json' \\`,
    // The variable from which this program's own commands read it.
    ...(hasKeys ? ['    -H "authorization: Bearer $SECONDWIND_KEY" \\'] : []),
    `    -d '{"targetUrl":"${url}/_flaky/503x2","method":"POST","body":"hello"}'`,
  ]
}
