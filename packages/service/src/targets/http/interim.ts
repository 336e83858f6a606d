/**
 * RFC 9110 §15.2: interim answers may come before the one that counts, whether or not anybody asked for them. undici
 * gives the connection up for `100 Continue`, which some gateways send with every POST. So they are taken away before
 * undici reads. They can stand only where an answer begins; in the middle of a body they are a body.
 */

/** Every interim answer begins so; but after `101` another protocol is spoken, and that one is for undici to refuse. */
const HEAD = Buffer.from('HTTP/1.1 1')
const UPGRADE = Buffer.from('HTTP/1.1 101')

/** Behind the headers of any answer. */
export const END_OF_HEAD: Buffer = Buffer.from('\r\n\r\n')

/** As of any head of an answer: what is longer is for undici to refuse, too. */
const LONGEST_HEAD_BYTES = 16_384

/** What is left behind the interim answers that these bytes begin with, and how many there were. */
export function passInterim(bytes: Buffer): { readonly rest: Buffer; readonly passed: number } {
  let rest = bytes
  let passed = 0
  while (rest.length >= UPGRADE.length && beginsWith(rest, HEAD) && !beginsWith(rest, UPGRADE)) {
    const end = rest.indexOf(END_OF_HEAD)
    if (end < 0) break
    rest = rest.subarray(end + END_OF_HEAD.length)
    passed++
  }
  return { rest, passed }
}

/** Nothing at all, or the first bytes of one whose end is still to come. */
export function mayBecomeInterim(bytes: Buffer): boolean {
  if (bytes.length >= LONGEST_HEAD_BYTES || beginsWith(bytes, UPGRADE)) return false
  if (bytes.length >= HEAD.length) return beginsWith(bytes, HEAD)
  return beginsWith(bytes, HEAD.subarray(0, bytes.length))
}

/** The last byte tells most answers from interim ones, and is looked at for less than it takes to compare them all. */
function beginsWith(bytes: Buffer, head: Buffer): boolean {
  const last = head.length - 1
  return bytes.length > last && bytes[last] === head[last] && head.compare(bytes, 0, head.length) === 0
}
