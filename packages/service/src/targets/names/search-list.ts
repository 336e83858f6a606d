import { withoutLastDot } from '../../host-name.ts'

/** What is put behind a short name, and how many dots make a name a long one: resolv.conf(5). */
export interface SearchList {
  readonly domains: readonly string[]
  readonly dots: number
}

/** Each is a question to the name servers: no more of them than glibc once took. */
const MOST_DOMAINS = 6
const MOST_DOTS = 15

export function readSearchList(resolvConf: string): SearchList {
  let domains: readonly string[] = []
  let dots = 1
  for (const line of resolvConf.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/)
    // The last of them counts, whichever word it begins with.
    if (keyword === 'search' || keyword === 'domain') domains = values.map(withoutLastDot).slice(0, MOST_DOMAINS)
    if (keyword === 'options') for (const value of values) dots = dotsOf(value) ?? dots
  }
  return { domains: domains.filter(domain => domain !== ''), dots }
}

/** The names that a host may mean, in the order in which they are asked for. */
export function namesOf(host: string, { domains, dots }: SearchList): string[] {
  const name = withoutLastDot(host)
  if (name !== host) return [name]
  const longer = domains.map(domain => `${name}.${domain}`)
  return name.split('.').length > dots ? [name, ...longer] : [...longer, name]
}

function dotsOf(option: string): number | undefined {
  const found = /^ndots:(\d{1,3})$/.exec(option)?.[1]
  return found === undefined ? undefined : Math.min(Number(found), MOST_DOTS)
}
