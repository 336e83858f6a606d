import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { describe, it } from 'vitest'
import { anchorsOf, PAGES, readPage, withoutCode } from './pages.ts'

const LINK = /\]\((?<target>[^)\s]+)\)|(?:src|srcset|href)="(?<attribute>[^"]+)"/g

function linksOf(page: string): string[] {
  return Array.from(
    withoutCode(readPage(page)).matchAll(LINK),
    ({ groups }) => groups!['target'] ?? groups!['attribute']!,
  )
}

/** What is wrong with a link, if anything is. Other people's sites are their own business. */
function problemOf(page: string, link: string): string | undefined {
  if (/^[a-z]+:/.test(link)) return undefined
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(target)) return `${page} → ${link}: there is no ${target}`
  if (anchor === undefined || anchorsOf(readPage(target)).includes(anchor)) return undefined
  return `${page} → ${link}: ${target} has no such heading`
}

describe('every link in the pages', () => {
  for (const page of PAGES)
    it(`leads somewhere: ${page}`, () => {
      assert.deepEqual(
        linksOf(page).flatMap(link => problemOf(page, link) ?? []),
        [],
      )
    })
})

describe('the first page', () => {
  const readme = readPage('README.md')

  it('has the two commands that a newcomer needs', () => {
    assert.ok(readme.includes('npm ci && npm start'))
    assert.ok(readme.includes('npm ci && npm test'))
  })

  it('leads to the pages of whoever uses, runs or attacks the service', () => {
    const links = linksOf('README.md')
    for (const page of ['service', 'api', 'client', 'cli', 'operations', 'security'])
      assert.ok(links.includes(`docs/${page}.md`), page)
    assert.ok(links.includes('docs/cli.md#an-outage-from-here'))
  })

  it('promises nothing for later that the service has an operation for', () => {
    const later = /[^.]* follow\b[^.]*\./.exec(readme)![0]
    assert.doesNotMatch(later, /keys|tenants|secrets|replays|controls|kill switch|audit|events|series|bodies/i)
  })

  it('names every page of the documentation in the index', () => {
    const index = readPage('docs/README.md')
    const others = PAGES.filter(page => page.startsWith('docs/') && page !== 'docs/README.md')
    assert.deepEqual(
      others.filter(page => !index.includes(`(${page.slice('docs/'.length)})`)),
      [],
    )
  })
})
