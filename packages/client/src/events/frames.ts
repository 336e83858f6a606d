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

export class FrameReader {
  #rest = ''
  #id: string | undefined

  /** Every frame that this piece completes. */
  read(piece: string): Frame[] {
    // A line feed that follows later would be an empty line of its own.
    const [text, kept] = endsInReturn(this.#rest + piece)
    const frames = text.replaceAll(/\r\n?/g, '\n').split('\n\n')
    this.#rest = frames.pop()! + kept
    if (this.#rest.length > LONGEST_FRAME) throw new RangeError('an event is longer than any event of the service')
    return frames.map(frame => this.#frameOf(frame))
  }

  #frameOf(text: string): Frame {
    let type = 'message'
    let retryMs: number | undefined
    const data: string[] = []
    for (const line of text.split('\n')) {
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

function endsInReturn(text: string): [text: string, kept: string] {
  return text.endsWith('\r') ? [text.slice(0, -1), '\r'] : [text, '']
}

/** A line that begins with a colon is a comment: a field without a name. */
function fieldOf(line: string): [field: string, value: string] {
  const colon = line.indexOf(':')
  if (colon === -1) return [line, '']
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
}
