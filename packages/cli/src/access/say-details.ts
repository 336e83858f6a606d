import { sayMs } from '@secondwind/lab'
import { sayInstant } from '../output/say-time.ts'

/** What a line of the audit tells besides its reason, in short: `level=retries-off scope=all expiresAt=2026-11-16T02:07:58Z`. */
export function sayDetails(details: object, prefix = ''): string {
  return Object.entries(details)
    .flatMap(([name, value]) => sayDetail(`${prefix}${name}`, value))
    .join(' ')
}

function sayDetail(name: string, value: unknown): string | readonly string[] {
  if (value === undefined || value === null || value === false) return []
  if (Array.isArray(value)) return `${name}=${value.join(',')}`
  if (typeof value === 'object') return sayObject(name, value)
  if (typeof value !== 'number') return `${name}=${String(value)}`
  if (/(?:At|^until)$/.test(name)) return `${name}=${sayInstant(value)}`
  return `${name}=${name.endsWith('Ms') ? sayMs(value).replaceAll(' ', '') : value}`
}

/** What is one of several kinds is called by it. */
function sayObject(name: string, value: object): readonly string[] {
  const { kind, ...rest } = value as { readonly kind?: unknown }
  return [...(typeof kind === 'string' ? [`${name}=${kind}`] : []), sayDetails(rest, `${name}.`)].filter(Boolean)
}
