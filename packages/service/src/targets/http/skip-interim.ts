import type { Socket } from 'node:net'
import { TargetError } from './failures.ts'

/** Every interim answer begins so; but after `101` another protocol is spoken, and that one is for undici to refuse. */
const HEAD = Buffer.from('HTTP/1.1 1')
const UPGRADE = Buffer.from('HTTP/1.1 101')
const END = Buffer.from('\r\n\r\n')
const NOTHING: Buffer = Buffer.alloc(0)

/** As of any head of an answer: what is longer is for undici to refuse, too. */
const LONGEST_HEAD_BYTES = 16_384

/** More than any server has to say before its answer; whoever goes on has none. */
const MOST_HEADS = 16

/**
 * RFC 9110 §15.2: interim answers may come before the one that counts, whether or not anybody asked for them. undici
 * gives the connection up for `100 Continue`, which some gateways send with every POST. So they are taken away before
 * undici reads. They can stand only where an answer begins: between the writing of a request, which is done in one go,
 * and the first bytes that are something else. In the middle of a body they are a body.
 */
export function skipInterim(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  const write = socket.write.bind(socket) as (...words: unknown[]) => boolean
  let isBeginning = false
  let held = NOTHING
  let heads = 0
  const begin = (...words: unknown[]): boolean => {
    isBeginning = true
    heads = 0
    return write(...words)
  }
  const readOn = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size)
      if (chunk === null || !isBeginning) return chunk
      const { rest, passed } = passHeads(held.length === 0 ? chunk : Buffer.concat([held, chunk]))
      heads += passed
      if (heads > MOST_HEADS) {
        socket.destroy(
          new TargetError(
            'bad-response',
            `the target sent more than ${MOST_HEADS} interim answers before one that counts`,
          ),
        )
        return null
      }
      isBeginning = mayBecomeHead(rest)
      held = isBeginning ? rest : NOTHING
      if (!isBeginning) return rest
    }
  }
  Object.assign(socket, { read: readOn, write: begin })
}

function passHeads(bytes: Buffer): { readonly rest: Buffer; readonly passed: number } {
  let rest = bytes
  let passed = 0
  while (rest.length >= UPGRADE.length && beginsWith(rest, HEAD) && !beginsWith(rest, UPGRADE)) {
    const end = rest.indexOf(END)
    if (end < 0) break
    rest = rest.subarray(end + END.length)
    passed++
  }
  return { rest, passed }
}

/** Nothing at all, or the first bytes of one whose end is still to come. */
function mayBecomeHead(bytes: Buffer): boolean {
  if (bytes.length >= LONGEST_HEAD_BYTES || beginsWith(bytes, UPGRADE)) return false
  const known = Math.min(bytes.length, HEAD.length)
  return beginsWith(bytes, HEAD.subarray(0, known))
}

function beginsWith(bytes: Buffer, head: Buffer): boolean {
  return bytes.length >= head.length && head.compare(bytes, 0, head.length) === 0
}
