import { isUtf8 } from 'node:buffer'
import type { CapturedResponse } from '../../task/task.ts'
import type { Blotter } from './redact.ts'

/** As undici reads them: small letters, and a list where a name came several times. */
export type ResponseHeaders = { readonly [name: string]: string | string[] | undefined }

const MOST_HEADERS = 64
const LONGEST_HEADER = 1_024

/** The beginning of a body, up to a limit. */
export class Capture {
  /** Of the body so far. */
  bytes = 0
  readonly #limitBytes: number
  readonly #chunks: Buffer[] = []

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  add(chunk: Buffer): void {
    const left = this.#limitBytes - this.bytes
    if (left > 0) this.#chunks.push(chunk.subarray(0, left))
    this.bytes += chunk.byteLength
  }

  /** What is kept of an answer. `isWhole`: nothing of its body is missing. */
  keep(headers: ResponseHeaders, blotter: Blotter, isWhole: boolean): CapturedResponse {
    const kept = keptHeaders(headers, blotter)
    const isTruncated = this.bytes > this.#limitBytes || !isWhole
    const bytes = this.#beginning(blotter, isTruncated)
    const text = textOf(bytes, isTruncated)
    return {
      headers: kept.headers,
      body: text ?? bytes.toString('base64'),
      bodyEncoding: text === undefined ? 'base64' : 'utf8',
      truncated: isTruncated || kept.isCut,
    }
  }

  #beginning(blotter: Blotter, isCut: boolean): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    if (blotter.hasNothing) return all
    // Byte by byte: a secret is what a header can hold, whatever the body around it is.
    return Buffer.from(blotter.text(all.toString('latin1'), isCut), 'latin1').subarray(0, this.#limitBytes)
  }
}

/** Undefined for bytes that are no text, or that a store could not keep as text. */
function textOf(bytes: Buffer, isCut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined
  if (!isCut) return isUtf8(bytes) ? bytes.toString('utf8') : undefined
  try {
    // In the middle of a stream half a character at the end is no mistake, and is left out.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}

/** In one pass, for it is done for every answer; as entries, so that a header may have any name. */
function keptHeaders(headers: ResponseHeaders, blotter: Blotter): { headers: Kept; isCut: boolean } {
  const kept: [name: string, text: string][] = []
  let isCut = false
  for (const name in headers) {
    if (kept.length === MOST_HEADERS) {
      isCut = true
      break
    }
    const value = headers[name]
    const whole = Array.isArray(value) ? value.join(', ') : (value ?? '')
    const text = blotter.header(name, whole.slice(0, LONGEST_HEADER), whole.length > LONGEST_HEADER)
    isCut ||= Math.max(name.length, whole.length, text.length) > LONGEST_HEADER
    kept.push([name.slice(0, LONGEST_HEADER), text.slice(0, LONGEST_HEADER)])
  }
  return { headers: Object.fromEntries(kept), isCut }
}

type Kept = { readonly [name: string]: string }
