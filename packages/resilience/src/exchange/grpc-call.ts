import { isRecord, type FieldCheck } from '../check/problems.ts'
import { readFields, type Report } from './document.ts'

/** Which calls: `package.Service/Method`, a service alone, or the same as gRPC's own name objects; empty: all of them. */
export type GrpcCall = string | { readonly service?: string | undefined; readonly method?: string | undefined }

/** `package.Service/Method`, `package.Service`, or empty. */
export function readCall({ problems }: Report, call: unknown): string {
  if (typeof call === 'string') return call.replace(/^\//, '')
  // A field that is misspelt here is a mistake of the caller and no loss: without it the call would be another.
  if (isRecord(call)) return readName({ problems, notCarried: problems }, 'call', call)
  problems.push({ at: 'call', is: call, say: "must be a text such as 'shop.Cart/Add', or { service, method }" })
  return ''
}

export function readName(report: Report, at: string, input: unknown): string {
  const word: FieldCheck = value => (typeof value === 'string' ? undefined : 'a text')
  const fields = readFields(report, at, input, { service: word, method: word })
  const [service, method] = [textOf(fields['service']), textOf(fields['method'])]
  if (!service && method) report.problems.push({ at: `${at}.service`, is: service, say: 'must be given with a method' })
  return method ? `${service}/${method}` : service
}

/** Absent is empty, and so is what a problem was found in. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
