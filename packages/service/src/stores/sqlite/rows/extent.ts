/** How far the file has come. Tasks and entries of their log are numbered upwards, and no number is given twice. */
export interface Extent {
  readonly newestTask: number
  readonly newestEntry: number
}

export const NOTHING_YET: Extent = { newestTask: 0, newestEntry: 0 }

export function isWithin(part: Extent, whole: Extent): boolean {
  return part.newestTask <= whole.newestTask && part.newestEntry <= whole.newestEntry
}
