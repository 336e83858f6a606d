import type { Socket } from 'node:net'
import { TargetError } from './failures.ts'

/** More than any server has to say before its answer; whoever goes on has none. */
const MOST_INTERIM = 16

/** undici takes 16 KiB of names and values; with what stands between them a head is three times that at the most. */
const MOST_HEAD_BYTES = 65_536

const NOTHING: Buffer = Buffer.alloc(0)

/**
 * Bounds what is read of one answer, and takes interim ones away.
 *
 *   request written ──► interim ──► head ──► body ──► request written
 *
 * undici counts the bytes of headers and bodies, and none of those around them: a reason phrase, line feeds before the
 * status, the size of a chunk and what may stand behind it can be endless. So all that comes is counted here, where the
 * socket is read.
 *
 * What has been handed on is compared before more is: undici and the exchange have had their say about it by then, and
 * no limit of theirs is passed over because much came at once.
 */
export function boundAnswers(socket: Socket, mostBytes: number): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  const write = socket.write.bind(socket) as (...words: unknown[]) => boolean
  const beginning = new Beginning()
  let bytes = 0
  let most = MOST_HEAD_BYTES

  const refuse = (why: string): null => {
    socket.destroy(new TargetError('bad-response', why))
    return null
  }
  // A request is written in one go: nothing of its answer is read in between.
  const begin = (...words: unknown[]): boolean => {
    beginning.begin()
    bytes = 0
    most = MOST_HEAD_BYTES
    return write(...words)
  }
  const readOn = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size)
      if (chunk === null) return null
      if (bytes > most) return refuse(beginning.isOver ? TOO_LONG : HEAD_TOO_LONG)
      bytes += chunk.length
      if (beginning.isOver) return chunk
      const rest = beginning.pass(chunk)
      if (beginning.interim > MOST_INTERIM) return refuse(TOO_MANY)
      if (rest === undefined) bytes = 0
      if (beginning.isOver) most = mostBytes
      if (rest !== undefined) return rest
    }
  }
  Object.assign(socket, { read: readOn, write: begin })
}

const TOO_MANY = `the target sent more than ${MOST_INTERIM} interim answers before one that counts`
const HEAD_TOO_LONG = `the target sent more than ${MOST_HEAD_BYTES / 1_024} KiB before the headers of its answer ended`
const TOO_LONG = 'the target sent far more than its answer holds: the rest was not read'

/** An answer up to the end of its headers. */
class Beginning {
  interim = 0
  isOver = true
  #mayBeInterim = false
  #held = NOTHING

  begin(): void {
    this.interim = 0
    this.isOver = false
    this.#mayBeInterim = true
    this.#held = NOTHING
  }

  /** What of it undici may read: nothing as long as it may be an interim answer. */
  pass(chunk: Buffer): Buffer | undefined {
    const known = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    if (!this.#mayBeInterim) {
      this.#look(known)
      return chunk
    }
    const { rest, passed } = passInterim(known)
    this.interim += passed
    this.#mayBeInterim = mayBecomeInterim(rest)
    this.#held = rest
    if (this.#mayBeInterim) return undefined
    this.#look(rest)
    return rest
  }

  #look(known: Buffer): void {
    this.isOver = known.includes(END_OF_HEAD)
    // Its end may come in pieces.
    this.#held = this.isOver ? NOTHING : known.subarray(1 - END_OF_HEAD.length)
  }
}

/** Every interim answer begins so; but after `101` another protocol is spoken, and that one is for undici to refuse. */
const HEAD = Buffer.from('HTTP/1.1 1')
const UPGRADE = Buffer.from('HTTP/1.1 101')

/** Behind the headers of any answer. */
const END_OF_HEAD: Buffer = Buffer.from('\r\n\r\n')

/** As of any head of an answer: what is longer is for undici to refuse, too. */
const LONGEST_HEAD_BYTES = 16_384

/**
 * What follows the interim answers at the start of these bytes, and how many there were.
 *
 * RFC 9110 §15.2: interim answers may come before the final answer, even if the client did not ask for them. Some gateways
 * send `100 Continue` after every POST, and undici closes the connection when it reads that. So they are removed before
 * undici reads. They are only looked for where an answer begins: in the middle of a body such bytes belong to the body.
 */
function passInterim(bytes: Buffer): { readonly rest: Buffer; readonly passed: number } {
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
function mayBecomeInterim(bytes: Buffer): boolean {
  if (bytes.length >= LONGEST_HEAD_BYTES || beginsWith(bytes, UPGRADE)) return false
  if (bytes.length >= HEAD.length) return beginsWith(bytes, HEAD)
  return beginsWith(bytes, HEAD.subarray(0, bytes.length))
}

/** The last byte tells most answers from interim ones, and is looked at for less than it takes to compare them all. */
function beginsWith(bytes: Buffer, head: Buffer): boolean {
  const last = head.length - 1
  return bytes.length > last && bytes[last] === head[last] && head.compare(bytes, 0, head.length) === 0
}
