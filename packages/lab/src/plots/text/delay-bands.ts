/** When each attempt happens: a line for each, nine of ten within its ends. */
import { bandsAxis } from '../spread.ts'
import { sayMs } from '../format.ts'
import type { DelayBands } from '../picture.ts'
import {
  EMPTY,
  framed,
  legend,
  widthBeside,
  wrapped,
  type Cell,
  type LegendEntry,
  type Line,
  type Sheet,
} from './frame.ts'

export function delayBandsLines(picture: DelayBands, sheet: Sheet): Line[] {
  const { glyphs } = sheet
  const axis = bandsAxis(picture)
  const labels = picture.bands.map(({ attempt }) => `attempt ${attempt}`)
  const width = widthBeside(labels, sheet)
  const column = (atMs: number): number => Math.min(width - 1, Math.floor(axis.place(atMs) * width))
  const rows = picture.bands.map(band => {
    const row: Cell[] = Array.from({ length: width }, () => EMPTY)
    const fill = (fromMs: number, untilMs: number, cell: Cell): void => {
      for (let at = column(fromMs); at <= column(untilMs); at++) row[at] = cell
    }
    if (picture.deadlineMs !== undefined) fill(picture.deadlineMs, picture.deadlineMs, deadlineCell(sheet))
    fill(band.p5Ms, band.p95Ms, { text: glyphs.line, ink: 'first' })
    fill(band.p25Ms, band.p75Ms, { text: glyphs.retries, ink: 'first' })
    fill(band.p50Ms, band.p50Ms, { text: glyphs.full, ink: 'first' })
    for (const { attempt, atMs } of picture.seen ?? [])
      if (attempt === band.attempt) fill(atMs, atMs, { text: glyphs.seen, ink: 'other' })
    return row
  })
  const entries: LegendEntry[] = [
    { text: glyphs.full, ink: 'first', name: 'median' },
    { text: glyphs.retries, ink: 'first', name: 'middle half' },
    { text: glyphs.line, ink: 'first', name: 'nine of ten' },
    ...(picture.seen ? [{ text: glyphs.seen, ink: 'other' as const, name: 'seen' }] : []),
    ...(picture.deadlineMs === undefined
      ? []
      : [{ ...deadlineCell(sheet), name: `deadline ${sayMs(picture.deadlineMs)}` }]),
  ]
  return [
    ...wrapped(`${picture.title}: time since the first attempt, log`, sheet, 'title'),
    ...legend(entries, sheet),
    ...framed({ rows, labels, axis }, sheet),
  ]
}

function deadlineCell({ glyphs }: Sheet): Cell {
  return { text: glyphs.upright, ink: 'capacity' }
}
