import { newIdempotencyKey } from '../ports/random.ts'

/**
 * A form as the bytes that are sent, without copying its files. Left to `fetch`, each attempt would draw a boundary
 * of its own, and a server that compares bodies would see the same idempotency key with another request.
 *
 * The encoding is that of the HTML standard, "multipart/form-data encoding algorithm".
 */
export function encodeForm(form: FormData): Blob {
  const boundary = `----secondwind-${newIdempotencyKey()}`
  const parts: BlobPart[] = []
  form.forEach((value, name) => {
    parts.push(`--${boundary}\r\nContent-Disposition: form-data; name="${quote(withCrLf(name))}"`)
    if (typeof value === 'string') parts.push(`\r\n\r\n${withCrLf(value)}\r\n`)
    else
      parts.push(`; filename="${quote(value.name)}"\r\nContent-Type: ${value.type || ANY_BYTES}\r\n\r\n`, value, '\r\n')
  })
  parts.push(`--${boundary}--\r\n`)
  // A blob's type is written in lower case; so is the boundary.
  return new Blob(parts, { type: `multipart/form-data; boundary=${boundary}` })
}

const ANY_BYTES = 'application/octet-stream'

function withCrLf(value: string): string {
  return value.replace(/\r?\n|\r/g, '\r\n')
}

function quote(value: string): string {
  return value.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22')
}
