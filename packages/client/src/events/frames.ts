/** Server-sent events, read as the HTML standard says (§9.2.6), from a text that comes in pieces. */

/** What stands between two empty lines. */
export interface Frame {
  /** Absent when it only brings an id, or a time to wait. */
  readonly event?: { readonly type: string; readonly data: string }
  /** The newest one, this frame's or an earlier one's. */
  readonly id?: string
  /** How long to wait before coming back. */
  readonly retryMs?: number
}

/** No frame of the service is that long: whoever sends more is not the service. */
const LONGEST_FRAME = 1_048_576

/** Looks at every character once, in however small pieces they come. */
export class FrameReader {
  /** Of the frame that is not yet at its end: its lines, the last of them as far as it has come, and how long they are. */
  #lines: string[] = []
  #begun = ''
  #length = 0
  #endedInReturn = false
  #id: string | undefined

  /** Every frame that this piece completes. */
  read(piece: string): Frame[] {
    const frames: Frame[] = []
    // One line end, in two pieces.
    const text = this.#endedInReturn && piece.startsWith('\n') ? piece.slice(1) : piece
    if (piece !== '') this.#endedInReturn = piece.endsWith('\r')
    const [first = '', ...others] = text.split(/\r\n?|\n/)
    this.#add(first)
    for (const line of others) {
      const frame = this.#endLine()
      if (frame !== undefined) frames.push(frame)
      this.#add(line)
    }
    return frames
  }

  #add(text: string): void {
    this.#begun += text
    this.#length += text.length
    if (this.#length > LONGEST_FRAME) throw new RangeError('an event is longer than any event of the service')
  }

  /** The frame that ends with it: an empty line ends one. */
  #endLine(): Frame | undefined {
    const line = this.#begun
    this.#begun = ''
    if (line !== '') {
      this.#lines.push(line)
      this.#length++
      return undefined
    }
    const lines = this.#lines
    this.#lines = []
    this.#length = 0
    return this.#frameOf(lines)
  }

  #frameOf(lines: readonly string[]): Frame {
    let type = 'message'
    let retryMs: number | undefined
    const data: string[] = []
    for (const line of lines) {
      const [field, value] = fieldOf(line)
      if (field === 'event') type = value
      if (field === 'data') data.push(value)
      if (field === 'id' && !value.includes('\0')) this.#id = value
      if (field === 'retry' && /^\d{1,9}$/.test(value)) retryMs = Number(value)
    }
    return {
      ...(data.length > 0 && { event: { type, data: data.join('\n') } }),
      ...(this.#id !== undefined && { id: this.#id }),
      ...(retryMs !== undefined && { retryMs }),
    }
  }
}

/** A line that begins with a colon is a comment: a field without a name. */
function fieldOf(line: string): [field: string, value: string] {
  const colon = line.indexOf(':')
  if (colon === -1) return [line, '']
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
}
