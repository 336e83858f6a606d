import { InvalidCursorError } from './store-errors.ts'

/** Where a page of one list ended, written as text that callers hand back without reading it. */
export interface Cursor<Place> {
  write(place: Place): string
  /** Throws for text that no page of this list ended with. */
  read(text: string): Place
}

type Part = 'number' | 'string'
type PlaceOf<Parts extends readonly Part[]> = {
  -readonly [At in keyof Parts]: Parts[At] extends 'number' ? number : string
}

/** Longer than any place: a lane's name is at most an address and a word. */
const LONGEST_CURSOR = 4_096

/** `list` is part of the text, so that a cursor of one list is refused by the others. */
export function cursorOf<const Parts extends readonly Part[]>(list: string, ...parts: Parts): Cursor<PlaceOf<Parts>> {
  const isPlace = (place: unknown[]): boolean =>
    place.length === parts.length &&
    place.every((part, at) => typeof part === parts[at] && (typeof part === 'string' || Number.isFinite(part)))
  return {
    write: place => encode([list, ...place]),
    read: text => {
      const [name, ...place] = partsOf(text)
      if (name !== list || !isPlace(place)) throw new InvalidCursorError(list)
      return place as PlaceOf<Parts>
    },
  }
}

function encode(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

function partsOf(text: string): unknown[] {
  if (text.length > LONGEST_CURSOR) return []
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    // Decoding overlooks what is not of its alphabet: a cursor with anything behind it is none.
    return Array.isArray(parts) && encode(parts) === text ? parts : []
  } catch {
    return [] // whoever asked is told that it is no cursor
  }
}
